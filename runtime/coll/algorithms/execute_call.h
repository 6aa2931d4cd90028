/* SPDX-License-Identifier: BSD-3-Clause */
/* Brings the program's data into the form of schedules, which is contiguous
 * bytes, and back. */
#ifndef ASPEN_RUNTIME_COLL_ALGORITHMS_EXECUTE_CALL_H
#define ASPEN_RUNTIME_COLL_ALGORITHMS_EXECUTE_CALL_H

#include "runtime/coll/call/call.h"
#include "runtime/coll/comm/state.h"

/* A call as schedules and the node's memory want it. */
struct aspx_coll_job {
    struct aspx_coll_comm *comm;
    const struct aspx_coll_call *call;
    const struct asp_tune_args *args; /* with the call's own bytes */
    const void *in;                   /* contiguous; NULL: none here */
    void *out;
    bool in_place;       /* of this rank, the root's in rooted calls */
    size_t element_size; /* bytes of an element of a reduction, else 1 */
    /* Of MPI_Alltoallv, instead of in and out. */
    const struct aspx_coll_blocks *sent, *received;
    int tag;       /* of its messages: taken by all ranks, also by those that
                            send none */
    bool reported; /* the error handler has been called for what fails */
};

/* Moves a job's bytes. Returns MPI_SUCCESS or an error code. */
typedef int aspx_coll_move_f(struct aspx_coll_job *job,
                             const struct aspx_coll_config *config);

/* Carry out a call by what moves bytes. Errors are those of the program's
 * communicator. Returns what the call is to return. */
int aspx_coll_execute_call(struct aspx_coll_comm *comm,
                           const struct aspx_coll_call *call,
                           const struct asp_tune_args *args,
                           const struct aspx_coll_config *config,
                           aspx_coll_move_f *move);

/* At least so many bytes; NULL: no memory. What was in it is lost. */
void *aspx_coll_scratch(struct aspx_coll_scratch *scratch, size_t bytes);

#endif
