/* SPDX-License-Identifier: BSD-3-Clause */
/* A non-blocking collective call: by a communicator's context (context.h) where
 * it can be, else MPI's.
 *
 *   MPI_Iallreduce(...) --> a context, and it fits --> posted; a request of
 *          |                                         ours (requests.h)
 *          +--> no context yet, too large, the program's function ... --> MPI
 *
 * What decides is equal on all ranks, as in tune.c: the communicator's context
 * is made in a blocking call, in which ranks wait for each other anyway, after
 * a non-blocking one was seen on it. */
#ifndef ASPEN_RUNTIME_COLL_FRONT_POSTED_H
#define ASPEN_RUNTIME_COLL_FRONT_POSTED_H

#include "runtime/coll/call/call.h"
#include "runtime/coll/nonblocking/context.h"
#include "runtime/posted/request.h"

/* A call that was posted, until its request is freed. */
struct aspx_coll_posted {
    struct aspx_post post;
    struct aspx_coll_context *context;
    struct aspx_own_request *request;
    struct {
        void *data;
        MPI_Count count;
        MPI_Datatype type; /* a duplicate, if not MPI's own */
        bool writes, is_plain;
    } to;
};

/* Carry out a call whose request is *request; `mpi` is the same call behind us.
 * Returns what the call is to return. */
int aspx_coll_post(const struct aspx_coll_call *call, MPI_Request *request,
                   int (*mpi)(const struct aspx_coll_call *call,
                              MPI_Request *request));

/* Take what came for the operations of a context; ends those for which all is
 * there. */
void aspx_coll_posted_step(struct aspx_coll_context *context);

#endif
