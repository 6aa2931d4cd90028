/* SPDX-License-Identifier: BSD-3-Clause */
/* Which calls of MPI_Alltoallv are for MPI to judge. */
#ifndef ASPEN_RUNTIME_COLL_COMM_ALLTOALLV_ARGS_H
#define ASPEN_RUNTIME_COLL_COMM_ALLTOALLV_ARGS_H

#include "state.h"

#include "runtime/coll/call/call.h"

#include <stdbool.h>

/* Is it one that MPI (MPICH 4.0 to 5.0) has no error for, on this rank, and
 * not in place? args_p->bytes is then what this rank sends or receives, the
 * larger of the two, for asp_decide_enter(). */
bool aspx_coll_alltoallv_is_right(const struct aspx_coll_comm *comm,
                                  const struct aspx_coll_call *call,
                                  struct asp_tune_args *args_p);

#endif
