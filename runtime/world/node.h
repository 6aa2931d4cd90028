/* SPDX-License-Identifier: BSD-3-Clause */
/* Which ranks share a node. */
#ifndef ASPEN_RUNTIME_WORLD_NODE_H
#define ASPEN_RUNTIME_WORLD_NODE_H

#include "common/layout/layout.h"
#include "runtime/mpi/real.h"

/* The ranks of comm on this node, in the order of key: as the layout has them,
 * or as MPI does where the layout of some rank knows only its own node. Not MPI
 * alone: what it calls shared memory is what it would share itself, and that is
 * nothing over UCX in MPICH 5.0 (MPI 4.1, 7.4.2 leaves it to the
 * implementation).
 *   mpi   the functions to call
 *   node  becomes a communicator, the caller's to free
 * Collective over comm. */
void aspx_split_by_node(const struct aspx_real *mpi,
                        const struct asp_layout *layout, MPI_Comm comm, int key,
                        MPI_Comm *node);

#endif
