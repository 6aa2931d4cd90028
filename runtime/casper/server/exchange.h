/* SPDX-License-Identifier: BSD-3-Clause */
/* One non-blocking collective in a ghost: what its node gives is made one
 * piece, exchanged among the ghosts by a schedule, and published for its users.
 *
 *   operation     the piece of a node     schedule     published
 *   barrier       -                       barrier      -
 *   bcast         the root's              bcast        the message, but not on
 *                                                      the root's node
 *   reduce        reduced                 reduce       the result, on the
 *                                                      root's node
 *   allreduce     reduced                 allreduce    the result
 *   reduce_scatter_block  reduced         allreduce    all results
 *   gather        blocks of its ranks     gather       all, on the root's node
 *   allgather     blocks of its ranks     allgather    all
 *   scatter       the root's, by nodes    scatter      the node's blocks, but
 *                                                      not on the root's node
 *   alltoall      for each node the       alltoall     from each node the
 *                 blocks that go there                 blocks that come
 *
 * Blocks are in the order of ranks within their node; nodes with fewer ranks
 * than the fullest have room for as many, so that all pieces are equal. */
#ifndef ASPEN_RUNTIME_CASPER_SERVER_EXCHANGE_H
#define ASPEN_RUNTIME_CASPER_SERVER_EXCHANGE_H

#include "runtime/coll/call/execute.h"
#include "runtime/coll/nonblocking/operation.h"

#include <mpi.h>
#include <stdbool.h>

/* What a ghost knows of the job, and checks against. */
struct aspx_exchange_job {
    MPI_Comm comm;          /* of the ghosts */
    uint32_t users, ghosts; /* of the whole job */
    uint32_t me;            /* as rank of comm */
    int tag_most;           /* MPI_TAG_UB */
};

/* A mailbox, and who is where: copied from it and checked. */
struct aspx_exchange_mailbox {
    struct aspx_mailbox mailbox; /* `me` members come before the ghost */
    uint32_t *node_of;           /* of each rank */
    uint32_t *member_of;         /* of each rank, its number in its node */
    int *ghosts;                 /* of each node, as rank of comm */
    uint32_t ranks, nodes, node, fullest;
    int tag; /* the first of ASPX_MAILBOX_TAGS */
    MPI_Comm comm;
};

enum aspx_exchange_state {
    ASPX_EXCHANGE_GATHERING,
    ASPX_EXCHANGE_RUNNING, /* waits for messages of other ghosts */
    ASPX_EXCHANGE_DONE,    /* to be published */
};

struct aspx_exchange {
    uint64_t number;
    struct aspx_mailbox_descriptor descriptor;
    enum aspx_exchange_state state;
    struct aspx_mailbox_view *from; /* by member */
    char *in, *out;
    uint64_t out_bytes;
    struct asp_coll_schedule schedule;
    struct aspx_coll_plan plan;
    struct aspx_coll_run run;
    struct aspx_exchange *next;
};

/* See a mailbox that a user has introduced.
 *   bytes  that are mapped from `memory` on
 *   me     as the user says it: how many members come before the ghost
 * Returns 0; 1: it is none, and mailbox->mailbox.fault names the field; or -1:
 * no memory. Not 0: nothing is left to leave. */
int aspx_exchange_mailbox_see(struct aspx_exchange_mailbox *mailbox,
                              void *memory, uint64_t bytes, uint32_t me,
                              const struct aspx_exchange_job *job);
void aspx_exchange_mailbox_leave(struct aspx_exchange_mailbox *mailbox);

/* Begin the operation of a member's entry. NULL: no memory, or no correct
 * program can have posted it (mailbox->mailbox.fault). */
struct aspx_exchange *aspx_exchange_begin(struct aspx_exchange_mailbox *mailbox,
                                          uint32_t member,
                                          const struct aspx_mailbox_view *view);
void aspx_exchange_free(struct aspx_exchange *x);

/* Go on as far as entries and messages have come. Returns 0, or -1: no memory,
 * or no schedule. */
int aspx_exchange_step(const struct aspx_exchange_mailbox *mailbox,
                       struct aspx_exchange *x);

/* When it is done. Returns false when the mailbox has no room now. */
bool aspx_exchange_publish(struct aspx_exchange_mailbox *mailbox,
                           struct aspx_exchange *x);

#endif
