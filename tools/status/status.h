/* SPDX-License-Identifier: BSD-3-Clause */
/* `aspen status`: what a step does on this node at this moment. Everything is
 * read from /proc: which processes are of the step and what its layout is from
 * their environment, what they told each other from the board (common/board.h),
 * of which each has a descriptor. Only processes of the same user are looked
 * at, nothing is written, no process is stopped, and what is read is checked
 * like any input: a program can put whatever it likes there. */
#ifndef ASPEN_TOOLS_STATUS_STATUS_H
#define ASPEN_TOOLS_STATUS_STATUS_H

#include "common/board.h"
#include "common/base/err.h"
#include "common/layout/layout.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

int aspt_status(int argc, char **argv);

/* `aspen pmix`: run a command as a client of the PMIx server that Aspen's agent
 * is to this task. tools/status/pmix.c */
int aspt_pmix(int argc, char **argv);

/* What /proc says of a process of ours. */
struct aspt_proc {
    bool alive;
    char state;      /* as in proc(5): R, S, D, T, ... */
    double cpu_s;    /* CPU time so far, in steps of 10 ms */
    double living_s; /* the same of threads that live, finer */
    double helper_s; /* of these, Aspen's own thread; -1: none */
};

/* Never fails: what is gone, or somebody else's, is not alive. */
void aspt_proc_look(pid_t pid, struct aspt_proc *proc);

/* Is it a process of ours? */
bool aspt_proc_mine(pid_t pid);

/* /proc/PID/NAME, at most max bytes of it, and a NUL behind them.
 * Returns it, owned by the caller, or NULL. */
char *aspt_proc_read(pid_t pid, const char *name, size_t max, size_t *len_p);

/* Value of a variable in the text of an environ file, or NULL. */
const char *aspt_proc_env(const char *env, size_t len, const char *name);

/* A copy of the board's tasks. */
struct aspt_board {
    uint32_t ntasks; /* 0: nobody has one that makes sense */
    uint32_t nghosts;
    struct {
        int32_t pid;
        uint32_t state; /* enum asp_board_state, or anything */
        uint32_t reported;
    } task[ASP_BOARD_SLOTS_MAX];
};

struct aspt_member { /* a process of a step */
    pid_t pid;
    uint32_t local; /* task on the node; or of the task it descends from */
    int board_fd;   /* -1: none */
};

enum { ASPT_STEP_NAME_MAX = 24 };

struct aspt_step {                 /* as far as it runs on a node */
    char name[ASPT_STEP_NAME_MAX]; /* "0", "batch" */
    char node[ASP_NAME_MAX];       /* as slurmd calls it */
    struct asp_layout *layout;     /* NULL: without Aspen */
    bool broken;                   /* there was a layout, of a wrong form */
    size_t nmembers;
    struct aspt_member *members;
};

struct aspt_found {
    bool foreign; /* a slurmstepd of the job is there, whoever's it is */
    size_t nsteps;
    struct aspt_step *steps; /* with a process of ours */
};

/* Look for the steps of a job.
 *   *found  to be given to aspt_found_clear(), also on failure
 * Returns 0, or -1 with err. */
int aspt_find(uint32_t job, struct aspt_found *found, struct asp_err *err);
void aspt_found_clear(struct aspt_found *found);

/* Copy the step's board; board->ntasks is 0 without one. tools/status/board.c */
void aspt_board_copy(const struct aspt_step *step, struct aspt_board *board);

/* Print a step that has a layout. Looks at its processes twice, this long
 * apart, to tell what they do now. tools/status/show.c */
void aspt_status_show(FILE *to, uint32_t job, const struct aspt_step *step,
                      unsigned apart_ms);

#endif
