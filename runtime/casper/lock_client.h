/* SPDX-License-Identifier: BSD-3-Clause */
/* The origin's end of the lock service (locks.h is the ghost's). */
#ifndef ASPEN_RUNTIME_CASPER_LOCK_CLIENT_H
#define ASPEN_RUNTIME_CASPER_LOCK_CLIENT_H

#include "window.h"

/* Ask ghost g of the window for a lock and wait until it is granted.
 *   verb    ASPX_LOCK_SHARED or ASPX_LOCK_EXCLUSIVE
 *   target  rank in the window, or ASPX_LOCK_EVERY: all targets of this ghost
 * Returns an MPI code. Threads: any, several at once. */
int aspx_lock_take(const struct aspx_win *win, uint32_t g, uint32_t verb,
                   uint32_t target);

/* The same at every ghost of the window, all requests under way at once. */
int aspx_lock_take_every(const struct aspx_win *win);

/* Give the lock back. The operations under it were flushed. No answer. */
int aspx_lock_drop(const struct aspx_win *win, uint32_t g, uint32_t target);
int aspx_lock_drop_every(const struct aspx_win *win);

#endif
