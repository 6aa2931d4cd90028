/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions by an operation of MPI. */
#ifndef ASPEN_RUNTIME_COLL_NODE_MPI_REDUCE_H
#define ASPEN_RUNTIME_COLL_NODE_MPI_REDUCE_H

#include <mpi.h>
#include <stddef.h>

struct aspx_real;

struct aspx_node_mpi_op {
    const struct aspx_real *mpi; /* through which MPI is called; NULL:
                                    aspx_real */
    MPI_Op op;
    MPI_Datatype type; /* whose elements lie side by side: extent = size */
};

/* For struct aspx_node_operator; arg is a struct aspx_node_mpi_op. Returns what
 * MPI_Reduce_local returns, for which MPI raises errors on MPI_COMM_WORLD
 * first. */
int aspx_node_mpi_reduce(void *inout, const void *in, size_t count, void *arg);

#endif
