/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls in which all processes of a window meet: MPI_Win_fence,
 * MPI_Win_set_info and MPI_Win_free. Operations went to ghosts, so they are
 * flushed there first; then MPI's own window does its part. */
#include "config.h"

#include "runtime/casper/lock/client.h"
#include "runtime/casper/rma/flush.h"
#include "runtime/casper/window/contig.h"
#include "runtime/casper/window/hints.h"
#include "runtime/casper/window/request.h"
#include "runtime/casper/window/native.h"
#include "runtime/casper/window/switch.h"

#include "runtime/mpi/handle.h"
#include "runtime/mpi/real.h"
#include "runtime/casper/window/counts.h"
#include "mpi_wrap.h"

int aspx_wrap_MPI_Win_fence(int assert, MPI_Win handle)
{
    struct aspx_win *win = aspx_win_find(handle);
    int rc;

    if (!win)
        return aspx_real.MPI_Win_fence(assert, aspx_native_of(handle));
    if (win->forbidden & ASPX_EPOCH_FENCE)
        return aspx_win_refuse(win, "MPI_Win_fence");
    /* A lock epoch is open, and MPI's window knows nothing of it. */
    if (atomic_load(&win->access) >= ASPX_ACCESS_LOCK)
        return aspx_win_raise(win, MPI_ERR_RMA_SYNC);
    rc = aspx_flush_every(win);
    if (rc == MPI_SUCCESS)
        rc = aspx_switch_tell(win);
    if (rc != MPI_SUCCESS)
        return aspx_win_pass(win, rc);
    rc = aspx_real.MPI_Win_fence(assert, handle);
    if (rc != MPI_SUCCESS)
        return rc;
    aspx_switch_take(win);
    aspx_count(ASPX_CALL_FENCE, ASPX_HANDLING_GHOST);
    atomic_store(&win->exposed, false);
    atomic_store(&win->access, assert &MPI_MODE_NOSUCCEED ? ASPX_ACCESS_NONE
                                                          : ASPX_ACCESS_FENCED);
    return MPI_SUCCESS;
}

/* MPICH's own MPI_Win_set_info has a barrier. The program promises with
 * symmetric=true that nothing is open; we do not rely on it. */
int aspx_wrap_MPI_Win_set_info(MPI_Win handle, MPI_Info info)
{
    struct aspx_win *win = aspx_win_find(handle);
    struct aspx_hints hints;
    int rc = MPI_SUCCESS;

    if (!win || !win->turn.able || !aspx_handle_is(info, ASPX_HANDLE_INFO))
        return aspx_real.MPI_Win_set_info(aspx_native_of(handle), info);
    aspx_hints_read(&hints, info);
    if (hints.async != ASPX_ASYNC_UNSAID && hints.async != ASPX_ASYNC_NATIVE)
        win->turn.asked = hints.async;
    if (hints.symmetric)
        rc = aspx_flush_every(win);
    if (hints.symmetric && rc == MPI_SUCCESS)
        rc = aspx_switch_tell(win);
    if (rc != MPI_SUCCESS)
        return aspx_win_pass(win, rc);
    rc = aspx_real.MPI_Win_set_info(handle, info);
    if (hints.symmetric && rc == MPI_SUCCESS)
        aspx_switch_take(win);
    return rc;
}

/* MPI's own MPI_Win_free has a barrier: when it returns, every process has
 * closed its epochs, each with a flush, and settled its locks, so no ghost
 * touches block or lock words again.
 * The entry stays until then, because attribute callbacks may ask for it. */
int aspx_wrap_MPI_Win_free(MPI_Win *handle)
{
    struct aspx_win *win = handle ? aspx_win_find(*handle) : NULL;
    int rc, access;

    if (!win)
        return aspx_native_free(handle);
    access = atomic_load(&win->access);
    if (access > ASPX_ACCESS_FENCED)
        return aspx_win_raise(win, MPI_ERR_RMA_SYNC);
    rc = aspx_lock_settle(win);
    if (rc != MPI_SUCCESS)
        return aspx_win_pass(win, rc);
    rc = aspx_real.MPI_Win_free(handle);
    if (rc != MPI_SUCCESS)
        return rc;
    aspx_win_contig_free(win);
    aspx_table_remove(&aspx_redirected, win->handle, win);
    aspx_switch_end(win);
    aspx_win_destroy(win);
    return MPI_SUCCESS;
}
