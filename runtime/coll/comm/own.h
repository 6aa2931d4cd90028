/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators of ours beside the program's, for the messages of its
 * collectives. */
#ifndef ASPEN_RUNTIME_COLL_COMM_OWN_H
#define ASPEN_RUNTIME_COLL_COMM_OWN_H

#include "state.h"

#include <stdbool.h>

/* When MPI runs, and before it ends. Collective over MPI_COMM_WORLD. */
void aspx_coll_own_start(void);
void aspx_coll_own_stop(void);

/* Make comm->own, of the same ranks in the same order, which returns errors.
 * Returns false, on all of its ranks, where MPI has no room for one more
 * communicator. Collective over the program's communicator; threads: any, for
 * different communicators at a time. */
bool aspx_coll_own_make(struct aspx_coll_comm *comm);

#endif
