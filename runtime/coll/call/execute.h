/* SPDX-License-Identifier: BSD-3-Clause */
/* Carries out this rank's schedule (common/coll/schedule/schedule.h) by
 * messages on a communicator of ours. A state machine: whoever has time moves
 * it.
 *
 *   step waits for its needs --> ready --> COPY, REDUCE: done at once
 *                                     \--> SEND, RECV: posted --> done
 *   the last step is done: the operation is
 *
 * Threads: one at a time. */
#ifndef ASPEN_RUNTIME_COLL_CALL_EXECUTE_H
#define ASPEN_RUNTIME_COLL_CALL_EXECUTE_H

#include "common/coll/schedule/schedule.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

struct aspx_coll_blocks; /* blocks.h */

/* What a schedule needs to be carried out any number of times. All zeros
 * before aspx_coll_plan_make(). */
struct aspx_coll_plan {
    const struct asp_coll_schedule *schedule;
    uint32_t *after;     /* for each step, where its followers begin */
    uint32_t *followers; /* steps that need it */
    uint32_t *left;      /* needs of each step that have not ended */
    uint32_t *queue;     /* steps that are ready, in the order they became so */
    uint32_t *step_of;   /* of each request under way */
    int *indexes;        /* of requests that ended */
    MPI_Request *requests; /* under way */
    MPI_Status *statuses;
    void *scratch; /* of the schedule */
};

/* Work out the followers, and take all memory that carrying out needs.
 *   schedule  finished; borrowed while the plan lives
 * Returns 0, or -1 (no memory); what the plan had before is gone. */
int aspx_coll_plan_make(struct aspx_coll_plan *plan,
                        const struct asp_coll_schedule *schedule);
void aspx_coll_plan_free(struct aspx_coll_plan *plan);

struct aspx_coll_where {
    MPI_Comm comm;
    const int *ranks; /* of the schedule's ranks in comm; NULL: the same */
    int tag;          /* the first of ASP_COLL_TAGS */
    const void *in;
    void *out;
    size_t element_size; /* bytes of an element of the reduction */
    MPI_Datatype type;   /* of it */
    MPI_Op reduction;
    /* Not NULL: byte i of IN and of OUT stands for block i of these. */
    const struct aspx_coll_blocks *sent, *received;
};

/* An operation under way. */
struct aspx_coll_run {
    struct aspx_coll_plan *plan;
    struct aspx_coll_where where;
    uint32_t head, tail; /* of the queue */
    uint32_t ended;      /* steps */
    uint32_t nrequests;
    int rc; /* the first error */
};

/* Begin: posts what can be posted. */
void aspx_coll_run_start(struct aspx_coll_run *run, struct aspx_coll_plan *plan,
                         const struct aspx_coll_where *where);

/* Go on as far as messages have come. Returns whether it has ended; run->rc is
 * then MPI_SUCCESS or the first error. After an error all receives are still
 * waited for, as the other ranks will send. */
bool aspx_coll_run_test(struct aspx_coll_run *run);

/* Wait until it has ended. Returns run->rc. The wait is MPI's own. */
int aspx_coll_run_wait(struct aspx_coll_run *run);

#endif
