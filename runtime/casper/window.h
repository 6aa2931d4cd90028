/* SPDX-License-Identifier: BSD-3-Clause */
/* A redirected window: what the engine knows of it beside MPI's own window,
 * whose handle the program holds. */
#ifndef ASPEN_RUNTIME_CASPER_WINDOW_H
#define ASPEN_RUNTIME_CASPER_WINDOW_H

#include "engine.h"

#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Epoch of this process as an origin. MPI's own window only ever sees fence
 * and post/start/complete/wait, never a lock, never an operation. */
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
    ASPX_HELD_LOCK,    /* granted by the ghost */
    ASPX_HELD_NOCHECK, /* by MPI_MODE_NOCHECK */
    ASPX_HELD_START,   /* in the group of the open MPI_Win_start */
};

struct aspx_target {
    uint64_t addr;      /* of its window, in its ghost */
    uint64_t bytes;
    int64_t disp_unit;
    uint32_t ghost;     /* index in aspx_win.ghosts */
    _Atomic uint32_t held; /* enum aspx_held */
};

/* A ghost that serves some target of the window. */
struct aspx_win_ghost {
    int rank_all;
    struct aspx_bell *bell; /* NULL: on another node */
    _Atomic bool used;      /* an operation went there since the window is */
};

struct aspx_win {
    MPI_Win handle;
    uint64_t id;            /* same in all its processes, unique in the job */
    int rank, size;
    int flavor;             /* MPI_WIN_CREATE_FLAVOR as the program sees it */
    uint64_t block_off, block_bytes; /* own block, if allocated is set */
    bool allocated;
    pthread_mutex_t mutex;  /* epoch changes */
    _Atomic int access;     /* enum aspx_access */
    _Atomic bool exposed;   /* a fence opened it and operations ran */
    int nlocks;             /* targets locked one by one */
    bool lock_all_nocheck;
    int nghosts;
    struct aspx_win_ghost *ghosts;
    struct aspx_target targets[];
};

/* The redirected window behind a handle, or NULL: MPI's own affair.
 * Threads: any.  Cost: a hash probe. */
struct aspx_win *aspx_win_find(MPI_Win handle);

/* Enter and remove; used by window.c. aspx_win_remove() does nothing when the
 * handle was given to another window meanwhile. Returns 0, or -1 (ENOMEM). */
int aspx_win_insert(struct aspx_win *win);
void aspx_win_remove(struct aspx_win *win);

/* Raise an error of class `errclass` on the window's error handler, as if MPI
 * had found it. Returns what the handler lets through. */
int aspx_win_raise(const struct aspx_win *win, int errclass);

/* The same for a return code of the internal window; MPI_SUCCESS passes. */
int aspx_win_pass(const struct aspx_win *win, int code);

/* Wake ghost g of the window if it naps: we are about to wait for it. */
void aspx_win_ring(const struct aspx_win *win, uint32_t g);

#endif
