/* SPDX-License-Identifier: BSD-3-Clause */
/* The layout's nodes count if all ranks have them, else MPI's notion of shared
 * memory. */
#include "config.h"

#include "node.h"

void aspx_split_by_node(const struct aspx_real *mpi,
                        const struct asp_layout *layout, MPI_Comm comm, int key,
                        MPI_Comm *node)
{
    int own = layout->nodes != NULL, all = 0;

    mpi->MPI_Allreduce(&own, &all, 1, MPI_INT, MPI_MIN, comm);
    if (all)
        mpi->MPI_Comm_split(comm, (int) layout->node, key, node);
    else
        mpi->MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, key, MPI_INFO_NULL,
                                 node);
}
