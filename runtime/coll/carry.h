/* SPDX-License-Identifier: BSD-3-Clause */
/* Carries out a call by a way: brings the program's data into the form of
 * schedules, which is contiguous bytes, and back. */
#ifndef ASPEN_RUNTIME_COLL_CARRY_H
#define ASPEN_RUNTIME_COLL_CARRY_H

#include "call.h"
#include "state.h"

#include "runtime/coll/node/mpi_fold.h"

/* A call as schedules and the node's memory want it. */
struct aspx_coll_job {
    struct aspx_coll_comm *comm;
    const struct aspx_coll_call *call;
    const struct asp_tune_args *args; /* with the call's own bytes */
    const void *in;                   /* contiguous; NULL: none here */
    void *out;
    bool in_place; /* of this rank, the root's in rooted calls */
    size_t grain;  /* bytes of an element of a reduction, else 1 */
    int tag;       /* of its messages: taken by all ranks, also by those that
                      send none */
};

/* Returns what the call is to return. */
int aspx_coll_carry(struct aspx_coll_comm *comm,
                    const struct aspx_coll_call *call,
                    const struct asp_tune_args *args,
                    const struct aspx_coll_way *way);

/* The ways of moving, in files of their own. */
int aspx_coll_by_messages(const struct aspx_coll_job *job,
                          const struct aspx_coll_way *way);
int aspx_coll_by_memory(const struct aspx_coll_job *job,
                        const struct aspx_coll_way *way);
int aspx_coll_by_levels(const struct aspx_coll_job *job,
                        const struct aspx_coll_way *way);

/* Carry out the schedule of a way for a problem among `ranks` (NULL: all), as
 * number `rank` of them, kept for the next call that is alike. */
int aspx_coll_schedule(const struct aspx_coll_job *job,
                       const struct asp_coll_way *way,
                       const struct asp_coll_problem *problem, uint32_t rank,
                       const int *ranks, const void *in, void *out);

/* How the node's memory folds for this call.
 *   how  memory for it, as long as the operator */
void aspx_coll_operator(const struct aspx_coll_job *job,
                        struct aspx_node_mpi_op *how,
                        struct aspx_node_operator *operator);

#endif
