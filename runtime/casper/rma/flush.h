/* SPDX-License-Identifier: BSD-3-Clause */
/* Completing the operations that this process issued on a redirected window.
 * All functions return an MPI code. Threads: any. */
#ifndef ASPEN_RUNTIME_CASPER_RMA_FLUSH_H
#define ASPEN_RUNTIME_CASPER_RMA_FLUSH_H

#include "runtime/casper/window/window.h"

#include "runtime/mpi/real.h"

/* MPI_Win_flush, which completes at the target, or MPI_Win_flush_local. */
typedef int aspx_flush_f(int rank, MPI_Win win);

/* Complete what this process issued for a target, a rank in the window.
 * Operations for others that went to the same ghosts are completed too. */
int aspx_flush_with(struct aspx_win *win, int rank, aspx_flush_f *flush);

/* The same for all targets. */
int aspx_flush_every_with(struct aspx_win *win, aspx_flush_f *flush);

/* The same, at the target, for what went to ghost g of the window. */
int aspx_flush_ghost(struct aspx_win *win, uint32_t g);

static inline int aspx_flush(struct aspx_win *win, int rank)
{
    return aspx_flush_with(win, rank, aspx_real.MPI_Win_flush);
}

static inline int aspx_flush_every(struct aspx_win *win)
{
    return aspx_flush_every_with(win, aspx_real.MPI_Win_flush);
}

/* What was sent to the ghost goes on inside MPI, in messages for which nobody
 * rings, though this process may not flush but wait for a request: the ghost
 * naps for short times only until the next flush. Threads: any. */
void aspx_flush_owe(struct aspx_win_ghost *ghost);

#endif
