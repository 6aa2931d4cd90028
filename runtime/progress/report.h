/* SPDX-License-Identifier: BSD-3-Clause */
/* The record of a job with progress threads. */
#ifndef ASPEN_RUNTIME_PROGRESS_REPORT_H
#define ASPEN_RUNTIME_PROGRESS_REPORT_H

#include "thread.h"

#include "common/layout/layout.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Sum over all ranks and tell what the user asked for, when the helper has
 * ended and before MPI_Finalize; collective over MPI_COMM_WORLD when asked for,
 * else nothing. */
void aspx_progress_report(const struct asp_layout *layout, bool has_thread);

/* The same for the record of a job with ghosts, where ranks may have had such a
 * thread (on_demand.h): the sum over these ranks, in their rank 0; collective.
 * Then a sentence, without a line's end, and the members of the JSON object but
 * for threads. */
struct aspx_progress_sum {
    struct aspx_progress_counts helper;
    uint64_t watched;
    uint64_t threads; /* ranks that had one */
};
void aspx_progress_add_up(MPI_Comm users, bool had_thread,
                          struct aspx_progress_sum *sum);
void aspx_progress_print(FILE *out, const struct aspx_progress_sum *sum);
void aspx_progress_json(FILE *out, const struct aspx_progress_sum *sum);

#endif
