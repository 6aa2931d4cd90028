/* SPDX-License-Identifier: BSD-3-Clause */
/* The origin's end of the locks: the lock word of a target of this node, or
 * the lock service of its ghost (locks.h is the ghost's end).
 * All return an MPI code. Threads: any, several at once. */
#ifndef ASPEN_RUNTIME_CASPER_LOCK_CLIENT_H
#define ASPEN_RUNTIME_CASPER_LOCK_CLIENT_H

#include "runtime/base/counter.h"
#include "runtime/casper/window/window.h"

/* Lock one target; waits until it is granted.
 *   rank    in the window
 *   more    this process holds locks of the window already
 *   held_p  how it is held, for aspx_lock_drop() */
int aspx_lock_take(struct aspx_win *win, int rank, bool exclusive, bool more,
                   enum aspx_held *held_p);

/* Give the lock back; no answer. The operations under it were flushed. */
int aspx_lock_drop(struct aspx_win *win, int rank, enum aspx_held held);

/* Lock all targets of the window, shared: at all ghosts at once, or, where
 * somebody is in the way, at one after the other. */
int aspx_lock_take_every(struct aspx_win *win);
int aspx_lock_drop_every(struct aspx_win *win);

/* Wait until the ghosts have handled all that this process sent them about the
 * window: before its lock words are used for something else. */
int aspx_lock_settle(struct aspx_win *win);

/* Let MPI make progress, in calls that need no other call of MPI: a program may
 * wait in a loop of them for something that another process does only after a
 * message of ours. Returns an MPI code. Threads: any. */
int aspx_lock_progress(void);

/* Calls of the function below. */
extern _Atomic uint64_t aspx_lock_idle_calls;

/* Calls to one that lets MPI make progress: costs little for programs that do
 * not wait. */
enum { ASPX_CALLS_PER_PROGRESS = 16 };

/* The same in every 16th call. */
static inline void aspx_lock_progress_rarely(void)
{
    if (aspx_counter_add(&aspx_lock_idle_calls, 1) % ASPX_CALLS_PER_PROGRESS ==
        0)
        (void) aspx_lock_progress();
}

#endif
