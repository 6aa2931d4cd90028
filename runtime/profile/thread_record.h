/* SPDX-License-Identifier: BSD-3-Clause */
/* The record of a job whose ranks have a thread each: what these have counted,
 * and the time in MPI. */
#ifndef ASPEN_RUNTIME_PROFILE_THREAD_RECORD_H
#define ASPEN_RUNTIME_PROFILE_THREAD_RECORD_H

#include "common/layout/layout.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* How a mode tells what its threads have counted, summed over all ranks.
 *   who      "4 ranks on 2 nodes, a thread each"
 *   threads  how many ranks have one */
struct aspx_record_mode {
    const char *json_key; /* of the mode's own object */
    void (*line)(const struct asp_layout *layout, const char *who, int threads,
                 const uint64_t *sum, FILE *out);
    void (*json)(FILE *out, const uint64_t *sum); /* the object's members */
};

enum { ASPX_RECORD_COUNTS = 16 };

/* Sum n counts (ASPX_RECORD_COUNTS at most) of each rank and tell what the
 * user asked for. has_thread: this rank; one that had to go on without counts
 * zeros. Inside MPI, before MPI_Finalize; collective over
 * MPI_COMM_WORLD when asked for, else nothing. */
void aspx_record_counts(const struct asp_layout *layout,
                        const struct aspx_record_mode *mode, bool has_thread,
                        const uint64_t *own, int n);

#endif
