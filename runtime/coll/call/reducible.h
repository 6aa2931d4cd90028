/* SPDX-License-Identifier: BSD-3-Clause */
/* Which of MPI's own operations are known to reduce which of its own types. A
 * handle that names neither, as one from overwritten memory, is no error here:
 * nothing is asked of MPI. Threads: any, after the start. */
#ifndef ASPEN_RUNTIME_COLL_CALL_REDUCIBLE_H
#define ASPEN_RUNTIME_COLL_CALL_REDUCIBLE_H

#include <mpi.h>
#include <stdbool.h>

/* Before the first question. */
void aspx_coll_reducible_start(void);

/* May this rank reduce elements of the type by the operation itself?
 *   floating_p  out: they are floating-point or complex numbers */
bool aspx_coll_can_reduce(MPI_Op op, MPI_Datatype type, bool *floating_p);

#endif
