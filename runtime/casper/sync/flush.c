/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Win_flush and its kin, and MPI_Win_sync. */
#include "config.h"

#include "runtime/casper/lock/client.h"
#include "runtime/casper/rma/flush.h"

#include "runtime/casper/window/native.h"
#include "runtime/mpi/real.h"
#include "runtime/casper/window/counts.h"
#include "mpi_wrap.h"

/* Flushes are legal only under a lock. Elsewhere MPI's own window, which
 * knows of none, raises the error. */
static struct aspx_win *find_locked(MPI_Win handle)
{
    struct aspx_win *win = aspx_win_find(handle);

    return win && atomic_load(&win->access) >= ASPX_ACCESS_LOCK ? win : NULL;
}

static bool may_flush(const struct aspx_win *win, int rank)
{
    if (rank < 0 || rank >= win->size)
        return false;
    return atomic_load(&win->access) == ASPX_ACCESS_LOCK_ALL ||
           atomic_load(&win->targets[rank].held) != ASPX_HELD_NONE;
}

int aspx_wrap_MPI_Win_flush(int rank, MPI_Win handle)
{
    struct aspx_win *win = find_locked(handle);

    if (!win || !may_flush(win, rank))
        return aspx_real.MPI_Win_flush(rank, aspx_native_of(handle));
    aspx_count(ASPX_CALL_FLUSH, ASPX_HANDLING_GHOST);
    return aspx_win_pass(win, aspx_flush(win, rank));
}

int aspx_wrap_MPI_Win_flush_all(MPI_Win handle)
{
    struct aspx_win *win = find_locked(handle);

    if (!win)
        return aspx_real.MPI_Win_flush_all(aspx_native_of(handle));
    aspx_count(ASPX_CALL_FLUSH, ASPX_HANDLING_GHOST);
    return aspx_win_pass(win, aspx_flush_every(win));
}

int aspx_wrap_MPI_Win_flush_local(int rank, MPI_Win handle)
{
    struct aspx_win *win = find_locked(handle);

    if (!win || !may_flush(win, rank))
        return aspx_real.MPI_Win_flush_local(rank, aspx_native_of(handle));
    aspx_count(ASPX_CALL_FLUSH, ASPX_HANDLING_GHOST);
    return aspx_win_pass(
        win, aspx_flush_with(win, rank, aspx_real.MPI_Win_flush_local));
}

int aspx_wrap_MPI_Win_flush_local_all(MPI_Win handle)
{
    struct aspx_win *win = find_locked(handle);

    if (!win)
        return aspx_real.MPI_Win_flush_local_all(aspx_native_of(handle));
    aspx_count(ASPX_CALL_FLUSH, ASPX_HANDLING_GHOST);
    return aspx_win_pass(
        win, aspx_flush_every_with(win, aspx_real.MPI_Win_flush_local));
}

int aspx_wrap_MPI_Win_sync(MPI_Win handle)
{
    if (!find_locked(handle))
        return aspx_real.MPI_Win_sync(aspx_native_of(handle));
    atomic_thread_fence(memory_order_seq_cst);
    /* Programs that wait in a loop of MPI_Win_sync count on some progress for
     * their other messages, as MPI gives them. */
    return aspx_lock_progress();
}
