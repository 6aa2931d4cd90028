/* SPDX-License-Identifier: BSD-3-Clause */
/* The requests of posted operations: generalized requests of MPI, so that they
 * go wherever a request goes. MPI's own calls only see when one has ended; what
 * moves it are the calls here that complete requests, which stand in front:
 * they take what came before they ask MPI, and a wait for one of ours sleeps,
 * where MPI would spin.
 *
 * (MPICH's generalized requests with a poll function would do without these;
 * but its MPI_Wait then calls that function without end and makes no progress
 * of messages meanwhile, and MPI_Request_get_status never calls it.) */
#ifndef ASPEN_RUNTIME_COLL_FRONT_REQUESTS_H
#define ASPEN_RUNTIME_COLL_FRONT_REQUESTS_H

#include "posted.h"

/* Make posted->request. Returns an error code; then there is none. */
int aspx_coll_request_start(struct aspx_coll_posted *posted);

#endif
