/* SPDX-License-Identifier: BSD-3-Clause */
/* What is known of a communicator of the program.
 *
 *   first tunable call --> INACTIVE --8th--> activation in that call
 *                                                  |        |
 *          processes of another job,               v        v
 *          an intercommunicator --> LEFT_TO_MPI <- fails   TUNED
 *
 * Its own duplicate, memory and decisions are made in the eighth call, by all
 * ranks or by none; so a program with 1,000 communicators that it hardly uses
 * pays for none. Threads: calls on one communicator are MPI's to order; on
 * different ones, any. */
#ifndef ASPEN_RUNTIME_COLL_COMM_STATE_H
#define ASPEN_RUNTIME_COLL_COMM_STATE_H

#include "coll_config.h"

#include "runtime/coll/call/call.h"
#include "runtime/coll/call/execute.h"
#include "runtime/coll/node/area.h"

#include "common/tune/decide.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

enum aspx_coll_state {
    ASPX_COLL_COMM_INACTIVE,
    ASPX_COLL_COMM_TUNED,
    ASPX_COLL_COMM_LEFT_TO_MPI,
};

enum {
    ASPX_COLL_ACTIVATION = 8, /* calls: the first ones pay for connections, and
                                 the state costs some 46 messages of 4 ranks */
    ASPX_COLL_PLANS = 16,     /* kept of a communicator */
    ASPX_COLL_CONFIGS = ASP_DECIDE_KEYS * ASP_DECIDE_CANDIDATES,
};

/* A schedule that was carried out before, for the next call that is alike. */
struct aspx_coll_kept {
    struct asp_coll_config config;
    struct asp_coll_problem problem;
    size_t *counts; /* of its own, and offsets: those of the problem */
    struct asp_coll_schedule schedule;
    struct aspx_coll_plan plan;
    uint64_t used; /* number of the call that used it last; 0: never */
};

/* The configuration of a family for a call word. */
struct aspx_coll_forced {
    uint32_t call, config;
};

/* Memory that only grows. */
struct aspx_coll_scratch {
    void *memory;
    size_t bytes;
};

struct aspx_coll_comm {
    enum aspx_coll_state state;
    uint32_t calls; /* tunable ones */
    MPI_Comm comm, own;
    uint32_t rank, size;
    uint64_t group; /* a hash of its processes in their order */
    struct asp_tune_shape shape;
    /* Of calls with counts (counts.h), of the latest: bytes of each rank, where
     * they lie, and what the model takes for them. One memory. */
    size_t *counts, *offsets, *shares;

    /* Nodes, numbered by their lowest ranks. */
    uint32_t *node; /* of each rank */
    int *leaders;   /* lowest rank of each node, as rank of own */
    uint32_t nnodes;
    int *members; /* ranks of this node, ascending */
    uint32_t nmembers, index;
    bool regular; /* nodes have equal numbers of ranks, next to each other */
    struct aspx_node_area *area; /* NULL: memory could not be shared */

    void *memory; /* of decide */
    struct asp_decide *decide;
    struct aspx_coll_config *configs; /* by the numbers that order() gave */
    uint32_t nconfigs;
    struct {
        const struct aspx_coll_config *config; /* NULL: none yet */
        struct asp_tune_args args;
        size_t element_size;
    } fitted;                    /* the latest that fitted */
    struct aspx_coll_kept *kept; /* ASPX_COLL_PLANS */
    struct aspx_coll_forced forced[ASP_DECIDE_KEYS]; /* coll.force */
    uint32_t nforced;
    struct aspx_coll_scratch in, out; /* where data with gaps are packed */
    struct aspx_coll_scratch levels;  /* what a node has together */
    uint32_t posts;                   /* non-blocking calls */
    bool context_was_offered;
    struct aspx_coll_context *context; /* context.h; NULL: they are MPI's */
    struct aspx_coll_told *told;       /* trace.h; NULL without a trace */
    double last_us[ASP_COLL_OPS], ended_us[ASP_COLL_OPS];
    int tag_next;
    struct aspx_coll_comm *next; /* of all */
};

/* Who shares memory on this node. */
static inline struct aspx_node_place aspx_coll_place(
    const struct aspx_coll_comm *comm)
{
    return (struct aspx_node_place){
        .mpi = &aspx_coll_behind,
        .comm = comm->own,
        .members = comm->members,
        .count = comm->nmembers,
        .index = comm->index,
    };
}

#endif
