/* SPDX-License-Identifier: BSD-3-Clause */
/* A redirected window: what the engine knows of it beside MPI's own window,
 * whose handle the program holds. */
#ifndef ASPEN_RUNTIME_CASPER_WINDOW_WINDOW_H
#define ASPEN_RUNTIME_CASPER_WINDOW_WINDOW_H

#include "runtime/casper/arena/engine.h"
#include "runtime/casper/arena/lock_word.h"
#include "request.h"

#include "runtime/adapt/adapt.h"
#include "runtime/base/table.h"
#include "counts.h"

#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Epoch of this process as an origin. MPI's own window only ever sees fence
 * and post/start/complete/wait, never a lock, never an operation.
 *
 *   from          call                            to
 *   NONE, FENCED  fence                           FENCED (NOSUCCEED: NONE)
 *   FENCED        an operation                    FENCE
 *   FENCE         fence                           FENCED (NOSUCCEED: NONE)
 *   NONE, FENCED  start                           START
 *   START         complete                        NONE
 *   NONE, FENCED  lock                            LOCK
 *   LOCK          lock, unlock of other targets   LOCK
 *   LOCK          unlock of the last target       NONE
 *   NONE, FENCED  lock_all                        LOCK_ALL
 *   LOCK_ALL      unlock_all                      NONE
 *
 * Any other call is MPI_ERR_RMA_SYNC. */
enum aspx_access {
    ASPX_ACCESS_NONE,
    ASPX_ACCESS_FENCED, /* after a fence; any other epoch may still follow */
    ASPX_ACCESS_FENCE,  /* after a fence, and an operation was issued */
    ASPX_ACCESS_START,
    ASPX_ACCESS_LOCK,
    ASPX_ACCESS_LOCK_ALL,
};

/* Permission held at one target. */
enum aspx_held {
    ASPX_HELD_NONE,
    ASPX_HELD_START,     /* in the group of the open MPI_Win_start */
    ASPX_HELD_NOCHECK,   /* by MPI_MODE_NOCHECK */
    ASPX_HELD_GHOST,     /* granted by the ghost */
    ASPX_HELD_SHARED,    /* taken in the lock word */
    ASPX_HELD_EXCLUSIVE, /* likewise */
};

/* Operations on one of MPI's windows. */
struct aspx_flow {
    _Atomic uint64_t issued;
    _Atomic uint64_t flushed; /* of these, known to be complete there */
    _Atomic uint64_t late;    /* of those issued, Puts that MPI's flush may not
                                 wait for (arena/arrival.h); raised before
                                 issued */
    _Atomic uint64_t arrived; /* of these, known to be complete there */
};

struct aspx_target {
    uint64_t off; /* of its memory, in the arena of its node */
    char *here;   /* where this process sees it; NULL: it does not */
    uint64_t bytes;
    int64_t disp_unit;
    uint64_t first_byte; /* of its memory among its node's, for segments */
    uint32_t node;       /* index in aspx_win.nodes */
    uint32_t ghost;      /* main ghost, index in aspx_win.ghosts */
    uint64_t word_off;   /* of its lock word in the arena; 0: none */
    struct aspx_lock_word *word; /* NULL: not reachable from here */
    _Atomic uint32_t held;       /* enum aspx_held */
    _Atomic uint64_t served_by;  /* bit g: ghost g of its node has had
                                    operations for it */
    int rank_all;
    unsigned char began; /* its first wish, see switch.h */
    _Atomic bool itself; /* redirection is off: it carries out what is for it,
                            and no ghost does */
    _Atomic bool free;   /* for Put and Get the ghosts may know better
                            (aspx_adapt_target_states) */
    _Atomic uint32_t
        owner;               /* the ghost that carries out accumulates bound by
                                rank, unless the target does; index in aspx_win.ghosts */
    struct aspx_flow sent;   /* to itself, on the engine's dynamic window */
    struct aspx_flow contig; /* to itself, on aspx_win.contig_win */
};

/* A ghost of some node of the window. */
struct aspx_win_ghost {
    int rank_all;
    struct aspx_doorbell *doorbell; /* NULL: on another node */
    uint32_t words;          /* targets whose main ghost it is; their lock */
    uint64_t words_off;      /* words, one after another; 0: none */
    _Atomic bool asked;      /* it got lock messages from here */
    struct aspx_flow sent;   /* on the engine's dynamic window */
    struct aspx_flow contig; /* on its contiguous one */
    _Atomic uint64_t bytes;  /* sent since the last flush, roughly */
    _Atomic bool owes;       /* the rest of what was sent: doorbell->owed */
};

/* A node with processes of the window; its ghosts are neighbours. */
struct aspx_win_node {
    uint32_t node;                 /* aspx_peer.node */
    uint32_t first_ghost, nghosts; /* in aspx_win.ghosts */
    uint64_t bytes;                /* of all its targets */
    uint64_t status_off;           /* in its arena, see switch.h */
};

/* Switching redirection off and on: switch.h. */
struct aspx_switch {
    bool able;             /* same in all processes of the window */
    enum aspx_async asked; /* by info key or rule; takes effect at the next
                              legal point */
    uint64_t points;       /* legal points passed */
    unsigned char told[2]; /* what this process has put in each bank */
    _Atomic unsigned char *bank; /* of this node, both; see status_off */
    unsigned char *taken; /* what targets told at the last point, size bytes */
    struct aspx_flow to_targets; /* all of aspx_target.sent and contig */
};

struct aspx_win {
    MPI_Win handle;
    MPI_Win contig_win;  /* locked for life, for simple Put and Get to
                      targets themselves, under the rules of
                      casper/arena/contig_win.h;   or MPI_WIN_NULL. contig.h */
    bool contig_missing; /* it would be of use, but there is none */
    bool device;         /* which carries out all of these; else those to
                            targets for which redirection is off */
    uint64_t id;         /* same in all its processes, unique in the job */
    int rank, size;
    int flavor;          /* MPI_WIN_CREATE_FLAVOR as the program sees it */
    bool segments;       /* accumulates go by segment, not by rank */
    bool no_locks;       /* promised: nobody locks single targets */
    _Atomic int balance; /* enum asp_balance; a name may change it */
    unsigned forbidden;  /* enum aspx_epoch, by a rule */
    atomic_flag refused; /* the user was told of it */
    uint32_t order, could, holds; /* as in struct aspx_verdict */
    _Atomic uint32_t held_once;   /* rules that hold or held, by another name */
    uint32_t serial;              /* in the registry; 0: not there */
    uint64_t block_off, block_bytes; /* own block; bytes 0: none */
    uint64_t words_block;            /* own block of lock words; 0: none */
    uint64_t words_bytes;            /* its length */
    struct aspx_switch turn;
    pthread_mutex_t mutex; /* epoch changes */
    _Atomic int access;    /* enum aspx_access */
    _Atomic bool exposed;  /* a fence opened it and operations ran */
    int nlocks;            /* targets locked one by one */
    bool lock_all_asked;   /* the open lock_all epoch holds locks at ghosts */
    uint32_t nnodes, nghosts;
    _Atomic uint32_t *traced; /* routes to each target that were told; NULL
                                 without a trace */
    struct aspx_win_node *nodes;
    struct aspx_win_ghost *ghosts;
    struct aspx_target targets[];
};

/* All of them, from when they are made until MPI has freed theirs. */
extern struct aspx_table aspx_redirected;

/* The redirected window behind a handle, or NULL: MPI's own affair.
 * Threads: any. */
static inline struct aspx_win *aspx_win_find(MPI_Win handle)
{
    return aspx_table_find(&aspx_redirected, handle);
}

/* Raise an error of class `errclass` on the window's error handler, as if MPI
 * had found it. Returns what the handler lets through. */
int aspx_win_raise(const struct aspx_win *win, int errclass);

/* The same for a return code of the internal window; MPI_SUCCESS passes. */
int aspx_win_pass(const struct aspx_win *win, int code);

/* An epoch that a rule of the policy promised not to happen: say so once, and
 * raise MPI_ERR_RMA_SYNC. `call` is its name. */
int aspx_win_refuse(struct aspx_win *win, const char *call);

/* Take the way of balancing from the rules that hold for the window, or from
 * the settings. Each process may do so when it likes: see
 * docs/design/window-rules.md. */
void aspx_win_choose_balance(struct aspx_win *win);

/* Two numbers that name the window in traces: its first process, as a rank of
 * MPI's own world, and how many windows that has made before. */
#define ASPX_WIN_NAME     "window %u.%u"
#define ASPX_WIN_NAMES(w) (unsigned) ((w)->id >> 40), (unsigned) (w)->id

/* Operations that may not be complete. */
static inline uint64_t aspx_flow_open(const struct aspx_flow *flow)
{
    return atomic_load_explicit(&flow->issued, memory_order_relaxed) -
           atomic_load_explicit(&flow->flushed, memory_order_relaxed);
}

/* Wake ghost g of the window if it naps: we are about to wait for it. */
static inline void aspx_win_ring(const struct aspx_win *win, uint32_t g)
{
    aspx_doorbell_ring(win->ghosts[g].doorbell);
}

#endif
