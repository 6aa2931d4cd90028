/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Alltoallv. Its candidates differ in how many messages are under way, and
 * in whether they are messages; none depends on what the counts are:
 *
 *   by messages        the schedule is that of blocks of one byte, kept for all
 *                      calls; a message is that of the block, of the program's
 *                      types where they lie, and there is none of no bytes,
 *                      which both its ranks know
 *   in a node's memory each reads from each the bytes that it expects
 *
 * MPI_IN_PLACE, which all ranks say or none, is MPI's. */
#ifndef ASPEN_RUNTIME_COLL_ALGORITHMS_ALLTOALLV_H
#define ASPEN_RUNTIME_COLL_ALGORITHMS_ALLTOALLV_H

#include "execute_call.h"

/* Carry it out by what moves bytes, which takes the blocks of the job. Returns
 * an error code, of which nobody was told. */
int aspx_coll_move_blocks(struct aspx_coll_job *job,
                          const struct aspx_coll_config *config,
                          aspx_coll_move_f *move);

/* Move the blocks of a job in the node's memory. Returns an error code. */
int aspx_coll_alltoallv_in_memory(const struct aspx_coll_job *job,
                                  const struct aspx_node_config *how);

#endif
