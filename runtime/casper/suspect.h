/* SPDX-License-Identifier: BSD-3-Clause */
/* What a guard says of a ghost: its state as the kernel sees it, what it was
 * doing as the ghost itself said last, and what to do about it. */
#ifndef ASPEN_RUNTIME_CASPER_SUSPECT_H
#define ASPEN_RUNTIME_CASPER_SUSPECT_H

#include "life.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct aspx_suspect {
    pid_t pid;
    int rank;                /* in the real world; -1: not known yet */
    const char *node;
    struct aspx_life *life;  /* NULL: only its process can be seen */
    unsigned stalled_s;      /* how long it has not moved */
    uint64_t cpu;            /* ticks it had used when that began */
};

/* State letter of a process (proc(5)), '?' when it cannot be read.
 *   cpu_p  CPU time it has used, in clock ticks; may be NULL */
char aspx_suspect_state(pid_t pid, uint64_t *cpu_p);

/* A process that somebody stopped: no load of the machine explains it. */
bool aspx_suspect_stopped(pid_t pid);

/* It has not moved for a while.
 *   then  what follows from that */
void aspx_suspect_tell_stalled(const struct aspx_suspect *suspect,
                               const char *then);

/* It moves again after all. */
void aspx_suspect_tell_moving(const struct aspx_suspect *suspect);

/* Its process is no more. */
void aspx_suspect_tell_died(const struct aspx_suspect *suspect,
                            const char *then);

#endif
