/* SPDX-License-Identifier: BSD-3-Clause */
/* The record of a job with offload threads. */
#ifndef ASPEN_RUNTIME_OFFLOAD_REPORT_H
#define ASPEN_RUNTIME_OFFLOAD_REPORT_H

#include "common/layout/layout.h"

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>

/* What the thread has done; counted by it alone. */
struct aspx_offload_counts {
    uint64_t commands; /* taken from the ring */
    uint64_t posted;   /* ... that nobody waited for: requests */
    uint64_t ended;    /* requests that it saw end */
    uint64_t naps;
    uint64_t callbacks; /* that it left to a caller, or ran while one waited */
    uint64_t cpu_us;    /* its CPU time */
    uint64_t wall_us;   /* since it began */
};

extern struct aspx_offload_counts aspx_offload_counts;

/* Sum over all ranks and tell what the user asked for. In the thread, before
 * MPI_Finalize; collective over MPI_COMM_WORLD when asked for, else nothing. */
void aspx_offload_report(const struct asp_layout *layout);

/* The same for a record of somebody else, who has ranks that have no thread:
 * the sum over these ranks, in their rank 0; collective. Then the sentence,
 * without a line's end, and the members of the JSON object but for threads. */
struct aspx_offload_sum {
    struct aspx_offload_counts counts;
    uint64_t threads; /* ranks that have one */
};
void aspx_offload_add_up(MPI_Comm users, struct aspx_offload_sum *sum);
void aspx_offload_say(FILE *out, const struct aspx_offload_counts *sum);
void aspx_offload_json(FILE *out, const struct aspx_offload_counts *sum);

#endif
