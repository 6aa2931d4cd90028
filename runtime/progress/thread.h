/* SPDX-License-Identifier: BSD-3-Clause */
/* The sleeping progress thread of a rank. */
#ifndef ASPEN_RUNTIME_PROGRESS_THREAD_H
#define ASPEN_RUNTIME_PROGRESS_THREAD_H

#include "common/base/cpuset.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* What the progress threads of this process have done, one after the other.
 * Written by the thread alone, read when it has ended. */
struct aspx_progress_counts {
    uint64_t wakes;     /* by calls that posted something */
    uint64_t polls;     /* of MPI */
    uint64_t busy;      /* ... that moved something */
    uint64_t kept_out;  /* the program was inside MPI */
    uint64_t held_back; /* MPI might have called a function of the program */
    uint64_t cpu_us;
    uint64_t confined; /* 1: it runs on the service CPUs */
    uint64_t threads;  /* 1: there was one */
};

extern struct aspx_progress_counts aspx_progress_counts;

/* Start it, when MPI runs.
 *   service  the CPUs to stay on; NULL: wherever the program may run
 * Returns 0, or an errno. */
int aspx_progress_thread_start(const struct asp_cpuset *service);

/* It may work while this word, which others write, has this value (NULL:
 * always). Called while there is no thread. */
void aspx_progress_thread_permit(const _Atomic int32_t *word, int32_t value);
bool aspx_progress_thread_is_permitted(void);

/* It may never work again: from the end of the calling call on if the gate
 * keeps it out of that, else from a few polls later. */
void aspx_progress_thread_disable(void);

/* May several threads of the program post at once? (They may until it is
 * said.) Before the first post. */
void aspx_progress_thread_set_many(bool many_threads);

/* Something was posted that it is to work for. */
void aspx_progress_thread_notify(void);

/* End it, while MPI still runs. */
void aspx_progress_thread_stop(void);

#endif
