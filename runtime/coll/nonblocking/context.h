/* SPDX-License-Identifier: BSD-3-Clause */
/* The nonblocking context of a communicator: its mailbox
 * (nonblocking/mailbox.h), in memory that the ranks of a node share, or, where
 * its ranks are on several nodes, that their ghosts map, too. It outlives the
 * communicator while operations are under way. */
#ifndef ASPEN_RUNTIME_COLL_NONBLOCKING_CONTEXT_H
#define ASPEN_RUNTIME_COLL_NONBLOCKING_CONTEXT_H

#include "runtime/coll/comm/state.h"

#include "operation.h"

#include "common/layout/layout.h"

#include <pthread.h>

/* The ghosts of this job, for what lies below us: they have memory in common
 * with the users of their node, and join nodes. All but ring() are called by
 * one thread at a time for a communicator. */
struct aspx_coll_ghosts {
    bool (*can)(void); /* does this process map all that its ghost maps? */
    /* Number of the ghost, among all, that serves a rank of MPI_COMM_WORLD. */
    uint32_t (*of)(uint32_t rank_world);
    uint64_t (*most)(void); /* bytes that one mailbox may have */
    /* Zeroed memory, which the ghost maps at the same offset. */
    void *(*take)(uint64_t bytes, uint64_t *offset_p);
    void *(*find)(uint64_t offset, uint64_t bytes);
    void (*give)(uint64_t offset, uint64_t bytes);
    void (*open)(uint64_t offset, uint32_t me); /* serve this mailbox */
    void (*ring)(void);                         /* something was posted */
};

/* NULL: there are none. Set before the ranks join (interceptors.h). */
extern const struct aspx_coll_ghosts *aspx_coll_ghosts;

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
    bool has_publisher; /* a thread: publisher.h */
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
