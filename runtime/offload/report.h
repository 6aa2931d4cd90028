/* SPDX-License-Identifier: BSD-3-Clause */
/* The record of a job with offload threads. */
#ifndef ASPEN_RUNTIME_OFFLOAD_REPORT_H
#define ASPEN_RUNTIME_OFFLOAD_REPORT_H

#include "state.h"

#include "common/layout/layout.h"

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>

/* Sum over all ranks and tell what the user asked for. In the thread, before
 * MPI_Finalize; collective over MPI_COMM_WORLD when asked for, else nothing. */
void aspx_offload_report(const struct asp_layout *layout);

/* The same for a record of others, which have ranks that have no thread:
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
