/* SPDX-License-Identifier: BSD-3-Clause */
/* Which calls may be carried out in another way than MPI's, and what of them is
 * equal on all ranks. */
#ifndef ASPEN_RUNTIME_COLL_COMM_ELIGIBLE_H
#define ASPEN_RUNTIME_COLL_COMM_ELIGIBLE_H

#include "state.h"

#include "runtime/coll/call/call.h"

#include <stdbool.h>

/* The call without an MPI_IN_PLACE that MPI ignores. One buffer of a rooted
 * call is significant only at the root (MPI 4.0, 6.5 to 6.9): another rank may
 * pass anything there, and must still decide as the root does.
 *   masked  memory for the changed copy, if one is returned */
const struct aspx_coll_call *aspx_coll_significant(
    const struct aspx_coll_comm *comm, const struct aspx_coll_call *call,
    struct aspx_coll_call *masked);

/* Fill in *args_p. Returns false when the call is to be MPI's: it moves no
 * bytes, it reduces by a function of the program or in a way that only MPI
 * knows (all ranks see the same), or its arguments are wrong (MPI reports it).
 * Cost: without types of the program's own no call of MPI. */
bool aspx_coll_is_eligible(const struct aspx_coll_comm *comm,
                           const struct aspx_coll_call *call,
                           struct asp_tune_args *args_p);

/* Bytes from what is received to what is sent where MPICH (4.0 to 5.0) takes
 * the two for one memory: this rank's own block, as if types had no gaps. */
MPI_Aint aspx_coll_alias(const struct aspx_coll_call *call, uint32_t rank);

/* Bytes of an element of the reduction, else 1. */
size_t aspx_coll_element_size(const struct aspx_coll_call *call,
                              const struct asp_tune_args *args);

#endif
