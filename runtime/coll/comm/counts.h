/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Allgatherv and MPI_Reduce_scatter: blocks of sizes that differ, but every
 * rank is given all of them (MPI 4.0, 6.7 and 6.11). So their sum is equal on
 * all ranks and may be in a key, and schedules can be built from them. Where a
 * block lies in the program's buffer (displs) is each rank's own affair.
 *
 * MPI_Gatherv, Scatterv, Alltoallv (alltoallv.h) and Alltoallw are none of
 * them: a rank knows but its own counts. */
#ifndef ASPEN_RUNTIME_COLL_COMM_COUNTS_H
#define ASPEN_RUNTIME_COLL_COMM_COUNTS_H

#include "state.h"

#include "runtime/coll/call/call.h"
#include "common/coll/schedule/forms.h"

#include <stdbool.h>
#include <stdint.h>

static inline bool aspx_coll_has_counts(enum asp_coll_op op)
{
    return asp_coll_forms[op].counts == ASP_COLL_COUNTS_ALL;
}

/* Elements of a rank's block, and where it lies, in extents of its type. */
MPI_Count aspx_coll_count(const struct aspx_coll_call *call, uint32_t rank);
MPI_Aint aspx_coll_displ(const struct aspx_coll_call *call, uint32_t rank);

/* Fill in the bytes of each block, comm->counts.
 *   size  of an element
 * Returns their sum; 0: there are none, or a count is wrong. */
uint64_t aspx_coll_take_counts(const struct aspx_coll_comm *comm,
                               const struct aspx_coll_call *call,
                               uint64_t size);

/* Fill in comm->offsets, in bytes: where blocks lie in the program's buffer of
 * a type without gaps, or one after the other if it is packed. Returns whether
 * it must be packed, as a block lies before the buffer. */
bool aspx_coll_take_offsets(const struct aspx_coll_comm *comm,
                            const struct aspx_coll_call *call, bool packed);

/* As many bytes for each rank, for the model: comm->shares. */
const size_t *aspx_coll_shares(const struct aspx_coll_comm *comm,
                               uint64_t bytes, size_t element_size);

/* The same bytes for each rank, from and to every other: comm->counts. */
const size_t *aspx_coll_alike(const struct aspx_coll_comm *comm, size_t bytes);

#endif
