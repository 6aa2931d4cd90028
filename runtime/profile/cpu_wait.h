/* SPDX-License-Identifier: BSD-3-Clause */
/* How long a process waited for a CPU while it was outside MPI. Where CPUs are
 * shared, if only with daemons, a rank that communicates loses its CPU for some
 * milliseconds now and then, which looks like computing to an observer of MPI
 * alone. The kernel tells: /proc/PID/schedstat, and the state in
 * /proc/PID/stat, of the first thread of a process. A look costs 1.5 us, and 15
 * if the state is needed. One thread at a time. */
#ifndef ASPEN_RUNTIME_PROFILE_CPU_WAIT_H
#define ASPEN_RUNTIME_PROFILE_CPU_WAIT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Looks in a row that may tell nothing. */
enum { ASPX_CPU_WAIT_UNCLEAR = 4 };

struct aspx_cpu_wait {
    pid_t pid;
    int schedstat; /* open; -1: nothing is known of it */
    dev_t device;  /* the file that it is: the program may have */
    ino_t inode;   /* closed it and opened one of its own there */
    bool begun;
    unsigned unclear;       /* looks in a row */
    double now_s, inside_s; /* as it was told at the last clear look */
    double ran_s, waited_s; /* so far, likewise */
    double lost_s;          /* outside MPI waiting for a CPU, so far */
};

/* Of a process of which nothing is known. */
#define ASPX_CPU_WAIT_NOBODY ((struct aspx_cpu_wait){.schedstat = -1})

/* Between two looks. */
struct aspx_cpu_wait_look {
    double passed_s, outside_s; /* of that, outside MPI */
    double ran_s, waited_s;     /* on a CPU; for one, as far as that is over */
};

/* Pids mean the same where this is the same. 0: they mean nothing. */
uint64_t aspx_cpu_wait_namespace(void);

/* pid: of this process, or of one in the same namespace; 0: nobody. */
void aspx_cpu_wait_open(struct aspx_cpu_wait *wait, pid_t pid);
void aspx_cpu_wait_close(struct aspx_cpu_wait *wait);

/* lost_s counts from here on.
 *   now_s     of any clock that does not go back
 *   inside_s  seconds that the process has been inside MPI up to now */
void aspx_cpu_wait_begin(struct aspx_cpu_wait *wait, double now_s,
                         double inside_s);

/* Look, and bring lost_s up to now, unless nothing is known of the process.
 * Returns false if the process may be waiting at this moment: look again later,
 * and do not judge it now. That happens ASPX_CPU_WAIT_UNCLEAR times in a row at
 * most, and never to a process that looks at itself. */
bool aspx_cpu_wait_look(struct aspx_cpu_wait *wait, double now_s,
                        double inside_s);

/* What a look is made of. Pure. Seconds lost; and whether somebody who has or
 * wants a CPU at the end of it may be waiting for it. */
double aspx_cpu_wait_lost(const struct aspx_cpu_wait_look *look);
bool aspx_cpu_wait_may_go_on(const struct aspx_cpu_wait_look *look);

#endif
