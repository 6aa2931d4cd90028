/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the epochs. All return an MPI code. Threads: any. */
#ifndef ASPEN_RUNTIME_CASPER_SYNC_SYNC_H
#define ASPEN_RUNTIME_CASPER_SYNC_SYNC_H

#include "runtime/casper/window/window.h"

/* Complete at the target, a rank in the window, what this process issued for
 * it. Operations for others that went to the same ghosts are completed too. */
int aspx_sync_flush(struct aspx_win *win, int rank);

/* The same for all targets. */
int aspx_sync_flush_every(struct aspx_win *win);

/* The same for what went to ghost g of the window. */
int aspx_sync_flush_ghost(struct aspx_win *win, uint32_t g);

/* Let MPI make progress now and then: for calls that may do without MPI. */
void aspx_sync_poke(void);

/* Raise *flushed to `issued`; another thread may have raised it further. */
void aspx_sync_note(_Atomic uint64_t *flushed, uint64_t issued);

#endif
