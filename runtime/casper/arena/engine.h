/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of the ghost engine that users and ghosts share: the node's arena,
 * a dynamic window over all ranks with the arena attached by every ghost and
 * locked for life, a second window on the same memory (contig_win.h), and a
 * communicator for the lock service.
 *
 * A user's window lives in the arena. To reach byte b of target t, an origin
 * sends its operation to t's ghost, at the address where that ghost sees b. */
#ifndef ASPEN_RUNTIME_CASPER_ARENA_ENGINE_H
#define ASPEN_RUNTIME_CASPER_ARENA_ENGINE_H

#include "arena.h"
#include "runtime/world/world.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* What the policy wants, from the layout's knobs. Same in every process. */
struct aspx_settings {
    bool segments;   /* accumulates are bound by segment, not by rank */
    bool hardware;   /* the device carries out contiguous Put and Get */
    bool contig_win; /* contiguous Put and Get may take the contiguous window */
    /* which ghost of the target's node carries out a Put or a Get (papers:
     * dynamic binding); an Accumulate has one owner per byte and never moves */
    enum asp_balance balance;
    bool adapt;         /* redirection may be switched off and on */
    bool ghosts_decide; /* and if so, ghosts do (adapt/node/node_controller.h),
                         */
    bool
        tried; /* and the whole job is tried out (adapt/decide/job_controller.h)
                */
    bool scaling; /* idle ghosts are parked */
};

/* What this process has sent to one ghost, of all windows. */
struct aspx_load {
    _Atomic uint64_t ops, bytes;
    /* for ASP_BALANCE_QUEUE: what the ghost told last, and when */
    uint64_t ops_asked;
    uint32_t backlog;
};

struct aspx_engine {
    const struct aspx_world *world;
    struct aspx_settings settings;
    struct aspx_load *loads; /* by world rank */
    uint32_t *ghosts;        /* world ranks of all ghosts, node by node */
    uint32_t *first_ghost;   /* by node index, nnodes + 1: into ghosts */
    struct aspx_arena arena;
    MPI_Comm locks;       /* lock service, goodbyes, leaders */
    bool exchanges;       /* ghosts carry out non-blocking collectives */
    MPI_Comm ghosts_comm; /* then: the ghosts, in the order of `ghosts`; in
                             users MPI_COMM_NULL */
    MPI_Win win;          /* dynamic, over world->all, lock_all for life */
    MPI_Win contig_win;   /* contig_win.h; MPI_WIN_NULL: there is none */
    uint64_t *arena_addr; /* by world rank: where that process maps its node's
                             arena and has attached it to win; 0: nowhere,
                             as users that only reach their own slice, and
                             all users without settings.adapt */
    int32_t *pids;        /* by world rank */
    bool up;              /* some ghost has an arena: same value everywhere */
    bool unheard;         /* a rank shares memory with this one and cannot wake
                             it: by its device (net/net.h), or by ringing */
    bool rings;           /* messages within a node pass the device by: users
                             ring for each, not only before they wait */
};

extern struct aspx_engine aspx_engine;

/* What travels on the communicator `locks` to a ghost. A grant comes back as an
 * empty message with the request's reply tag, a refusal as one byte. */
enum aspx_lock_verb {
    ASPX_LOCK_SHARED,
    ASPX_LOCK_EXCLUSIVE,
    ASPX_LOCK_TRY, /* shared: at once, or refused */
    ASPX_UNLOCK,
    ASPX_LOCK_SETTLE, /* answered when all before it of this origin is done */
    ASPX_GOODBYE,     /* this user enters MPI_Finalize */
    ASPX_COLL_OPEN,   /* serve the mailbox at words_off as participant `target`
                         (runtime/posted/mailbox.h) */
    ASPX_P2P_OPEN,    /* serve the mailbox at words_off with the user `target`
                         (runtime/p2p/posts.h) */
    ASPX_COLL_CLOSE,  /* between ghosts: the mailboxes whose first tag is in
                         `window` are of no use any more */
};

#define ASPX_LOCK_EVERY UINT32_MAX /* all targets of the window here */

enum {
    ASPX_LOCK_TAG = 0,
    ASPX_REPLY_TAG_FIRST = 1,
    ASPX_REPLY_TAGS = 30000,
    ASPX_STATUS_TAG = 30001, /* adapt/node/status_broadcast.h */
    ASPX_ORDER_TAG = 30002,
    ASPX_REPORT_TAG = 30003
}; /* adapt/node/sample_tree.h */

struct aspx_lock_message {
    uint64_t window;    /* aspx_win.id */
    uint64_t words_off; /* first lock word that is concerned, in the arena of
                           the ghost's node; 0: the window has none there */
    uint32_t words;     /* how many, one after another */
    uint16_t verb;      /* enum aspx_lock_verb */
    uint16_t passes;    /* enum aspx_lock_passes */
    uint32_t target;    /* rank in the window, or ASPX_LOCK_EVERY */
    uint32_t reply_tag;
};

/* Collective over world->all. Returns 0, or -1 when MPI failed.
 *   status_bytes  as in aspx_arena_make() */
int aspx_engine_start(struct aspx_engine *engine,
                      const struct aspx_world *world, uint64_t status_bytes);

/* Collective over world->all, after the goodbyes. */
void aspx_engine_stop(struct aspx_engine *engine);

/* Index of a rank among the users, or among the ghosts, of its node. */
uint32_t aspx_engine_local(const struct aspx_world *world, uint32_t rank_all);

/* How many ranks of this node have a role. */
uint32_t aspx_engine_count(const struct aspx_world *world, enum asp_role role);

/* The doorbell of a ghost of this node; NULL for ghosts elsewhere. */
struct aspx_doorbell *aspx_engine_doorbell(const struct aspx_engine *engine,
                                           uint32_t ghost);

#endif
