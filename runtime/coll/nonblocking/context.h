/* SPDX-License-Identifier: BSD-3-Clause */
/* The nonblocking context of a communicator: its mailbox
 * (runtime/posted/mailbox.h), in memory that the ranks of a node share, or,
 * where its ranks are on several nodes, that their ghosts map, too. It outlives
 * the communicator while operations are under way. */
#ifndef ASPEN_RUNTIME_COLL_NONBLOCKING_CONTEXT_H
#define ASPEN_RUNTIME_COLL_NONBLOCKING_CONTEXT_H

#include "runtime/coll/comm/state.h"

#include "operation.h"

#include "runtime/posted/ghosts.h"

#include "common/layout/layout.h"

#include <pthread.h>

struct aspx_coll_context {
    struct aspx_posts posts;
    pthread_mutex_t lock;
    /* The communicator and each request. Not under `lock`: MPI may let go of a
     * request under a lock of its own, for which the holder of ours waits. */
    _Atomic uint32_t holders;
    MPI_Comm comm; /* the program's; MPI_COMM_NULL: freed */
    void *memory;
    uint64_t bytes, offset; /* offset: of memory that ghosts map */
    uint64_t region;        /* of it, each participant's */
    bool by_ghosts, is_maker;
    bool has_publisher;     /* a thread: publisher.h */
    bool has_said;          /* of that: */
    uint64_t pending_since; /* ns; 0: not yet */
    uint64_t waited_at; /* operations begun when a rank last let others run */
    uint32_t *node_of, *member_of;
    struct aspx_coll_context *next; /* of those whose ghost still uses it */
};

/* Before the first call. None is made where an offload thread moves MPI's own
 * operations. */
void aspx_coll_context_start(const struct asp_layout *layout);

/* Are there to be any? */
bool aspx_coll_context_wanted(void);

/* In a blocking call on the communicator: make it if there is a reason to.
 * Collective; all have it afterwards or none. */
void aspx_coll_context_offer(struct aspx_coll_comm *comm);

/* The communicator is freed: errors of what is under way are raised elsewhere
 * from now on. Takes NULL. */
void aspx_coll_context_let_go(struct aspx_coll_context *context);

/* A holder lets go of it. */
void aspx_coll_context_leave(struct aspx_coll_context *context);

/* How many operations were posted: on one node, and by ghosts. */
struct aspx_coll_posted_counts {
    _Atomic uint64_t shared_memory, by_ghosts;
};
extern struct aspx_coll_posted_counts aspx_coll_posted_counts;

#endif
