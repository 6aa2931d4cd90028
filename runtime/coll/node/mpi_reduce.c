/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls MPI_Reduce_local with the operation and type of a call, for reductions
 * that take a function on bytes. */
#include "config.h"

#include "mpi_reduce.h"

#include "runtime/mpi/real.h"

/* A segment has fewer elements than an int counts. */
int aspx_node_mpi_reduce(void *inout, const void *in, size_t count, void *arg)
{
    const struct aspx_node_mpi_op *how = arg;
    const struct aspx_real *mpi = how->mpi ? how->mpi : &aspx_real;

    return mpi->MPI_Reduce_local(in, inout, (int) count, how->type, how->op);
}
