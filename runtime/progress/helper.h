/* SPDX-License-Identifier: BSD-3-Clause */
/* The sleeping progress thread of a rank. */
#ifndef ASPEN_RUNTIME_PROGRESS_HELPER_H
#define ASPEN_RUNTIME_PROGRESS_HELPER_H

#include "common/cpuset.h"

#include <stdbool.h>
#include <stdint.h>

/* What it has done; written by it alone, read when it has ended. */
struct aspx_helper_counts {
    uint64_t wakes;    /* by calls that posted something */
    uint64_t polls;    /* of MPI */
    uint64_t busy;     /* ... that moved something */
    uint64_t kept_out; /* the program was inside MPI */
    uint64_t cpu_us;
    uint64_t confined; /* 1: it runs on the service CPUs */
};

extern struct aspx_helper_counts aspx_helper_counts;

/* Start it, when MPI runs.
 *   service  the CPUs to stay on; NULL: wherever the program may run
 * Returns 0, or an errno. */
int aspx_helper_start(const struct asp_cpuset *service);

/* Something was posted that it is to work for. */
void aspx_helper_wake(void);

/* End it, while MPI still runs. */
void aspx_helper_stop(void);

#endif
