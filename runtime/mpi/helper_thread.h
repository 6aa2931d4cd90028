/* SPDX-License-Identifier: BSD-3-Clause */
/* The thread of ours in a rank: the offload thread, or the helper of mode
 * thread; a process has one at the most. */
#ifndef ASPEN_RUNTIME_MPI_HELPER_THREAD_H
#define ASPEN_RUNTIME_MPI_HELPER_THREAD_H

#include "runtime/base/clock.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Start it, or another one when it has ended. The program's signals stay with
 * the program's threads. exit() without MPI_Finalize asks it to stop too, and
 * waits a second at most: libraries that tidy up then should not find a thread
 * at work in them, but it may be inside MPI for good. The child of a fork() has
 * no such thread, and its entries lead to the library.
 *   name  as ps shows it, 15 bytes at most
 *   work  the thread; returns when aspx_helper_thread_stopping()
 *   wake  ends its sleep; any thread may call it
 *   gone  NULL, or what the thread that exits calls when it has ended: handlers
 *         of exit() that were set before may still call MPI
 * Returns 0, or an errno. */
int aspx_helper_thread_start(const char *name, void (*work)(void),
                             void (*wake)(void), void (*gone)(void));

/* Is it there? */
bool aspx_helper_thread_runs(void);

/* For the thread: was it asked to stop? */
extern atomic_bool aspx_helper_thread_stop_flag;
static inline bool aspx_helper_thread_stopping(void)
{
    return atomic_load_explicit(&aspx_helper_thread_stop_flag,
                                memory_order_relaxed);
}

/* For the thread, when it was asked to stop: it can never leave what it is in.
 * Who stops it goes on without it. Does not return. */
_Noreturn void aspx_helper_thread_stay(void);

/* End it, from another thread; the second time, nothing is done. */
void aspx_helper_thread_stop(void);

#endif
