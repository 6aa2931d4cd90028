/* SPDX-License-Identifier: BSD-3-Clause */
/* Passive target: lock, unlock, lock_all, unlock_all. Permission comes from
 * the target's lock word or from the lock service of its ghost, so lock and
 * lock_all of any origin exclude each other as MPI says, whatever MPI does with
 * its own locks. */
#include "config.h"

#include "runtime/casper/lock/client.h"
#include "runtime/casper/rma/flush.h"

#include "runtime/casper/window/native.h"
#include "runtime/mpi/real.h"
#include "runtime/casper/window/counts.h"
#include "mpi_wrap.h"

/* Would MPI take these arguments? If not, its own call says so. */
static bool sane_lock(const struct aspx_win *win, int lock_type, int rank,
                      int assert)
{
    return (lock_type == MPI_LOCK_SHARED || lock_type == MPI_LOCK_EXCLUSIVE) &&
           rank >= 0 && rank < win->size &&
           (assert == 0 || assert == MPI_MODE_NOCHECK);
}

/* Open the epoch before asking, so that two threads cannot lock one target.
 * Operations before the lock call returns are the program's mistake. */
static bool open_lock(struct aspx_win *win, struct aspx_target *target,
                      bool *more)
{
    bool ok;
    int access;

    pthread_mutex_lock(&win->mutex);
    access = atomic_load(&win->access);
    ok = access == ASPX_ACCESS_NONE || access == ASPX_ACCESS_FENCED ||
         (access == ASPX_ACCESS_LOCK && target->held == ASPX_HELD_NONE);
    if (ok) {
        atomic_store(&target->held, ASPX_HELD_NOCHECK);
        atomic_store(&win->access, ASPX_ACCESS_LOCK);
        *more = win->nlocks++ > 0;
    }
    pthread_mutex_unlock(&win->mutex);
    return ok;
}

static void close_lock(struct aspx_win *win, struct aspx_target *target)
{
    pthread_mutex_lock(&win->mutex);
    atomic_store(&target->held, ASPX_HELD_NONE);
    if (--win->nlocks == 0)
        atomic_store(&win->access, ASPX_ACCESS_NONE);
    pthread_mutex_unlock(&win->mutex);
}

int aspx_wrap_MPI_Win_lock(int lock_type, int rank, int assert, MPI_Win handle)
{
    struct aspx_win *win = aspx_win_find(handle);
    struct aspx_target *target;
    enum aspx_held held = ASPX_HELD_NOCHECK;
    bool more = false;
    int rc;

    if (!win || !sane_lock(win, lock_type, rank, assert))
        return aspx_real.MPI_Win_lock(lock_type, rank, assert,
                                      aspx_native_of(handle));
    if (win->forbidden & ASPX_EPOCH_LOCK)
        return aspx_win_refuse(win, "MPI_Win_lock");
    target = &win->targets[rank];
    if (!open_lock(win, target, &more))
        return aspx_win_raise(win, MPI_ERR_RMA_SYNC);
    aspx_count(ASPX_CALL_LOCK, ASPX_HANDLING_GHOST);
    if (assert & MPI_MODE_NOCHECK)
        return MPI_SUCCESS;
    rc = aspx_lock_take(win, rank, lock_type == MPI_LOCK_EXCLUSIVE, more,
                        &held);
    if (rc == MPI_SUCCESS)
        atomic_store(&target->held, held);
    else
        close_lock(win, target);
    return aspx_win_pass(win, rc);
}

int aspx_wrap_MPI_Win_unlock(int rank, MPI_Win handle)
{
    struct aspx_win *win = aspx_win_find(handle);
    struct aspx_target *target;
    enum aspx_held held;
    int rc;

    if (!win || rank < 0 || rank >= win->size)
        return aspx_real.MPI_Win_unlock(rank, aspx_native_of(handle));
    target = &win->targets[rank];
    held = (enum aspx_held) atomic_load(&target->held);
    if (held < ASPX_HELD_NOCHECK)
        return aspx_win_raise(win, MPI_ERR_RMA_SYNC);
    rc = aspx_flush(win, rank);
    if (rc == MPI_SUCCESS && held != ASPX_HELD_NOCHECK)
        rc = aspx_lock_drop(win, rank, held);
    close_lock(win, target);
    return aspx_win_pass(win, rc);
}

int aspx_wrap_MPI_Win_lock_all(int assert, MPI_Win handle)
{
    struct aspx_win *win = aspx_win_find(handle);
    int access, rc = MPI_SUCCESS;
    bool ok;

    if (!win || (assert != 0 && assert != MPI_MODE_NOCHECK))
        return aspx_real.MPI_Win_lock_all(assert, aspx_native_of(handle));
    if (win->forbidden & ASPX_EPOCH_LOCK_ALL)
        return aspx_win_refuse(win, "MPI_Win_lock_all");
    pthread_mutex_lock(&win->mutex);
    access = atomic_load(&win->access);
    ok = access == ASPX_ACCESS_NONE || access == ASPX_ACCESS_FENCED;
    if (ok) {
        win->lock_all_asked = !win->no_locks && assert != MPI_MODE_NOCHECK;
        atomic_store(&win->access, ASPX_ACCESS_LOCK_ALL);
    }
    pthread_mutex_unlock(&win->mutex);
    if (!ok)
        return aspx_win_raise(win, MPI_ERR_RMA_SYNC);
    aspx_count(ASPX_CALL_LOCK_ALL, ASPX_HANDLING_GHOST);
    if (win->lock_all_asked)
        rc = aspx_lock_take_every(win);
    return aspx_win_pass(win, rc);
}

int aspx_wrap_MPI_Win_unlock_all(MPI_Win handle)
{
    struct aspx_win *win = aspx_win_find(handle);
    int rc;

    if (!win || atomic_load(&win->access) != ASPX_ACCESS_LOCK_ALL)
        return aspx_real.MPI_Win_unlock_all(aspx_native_of(handle));
    rc = aspx_flush_every(win);
    if (rc == MPI_SUCCESS && win->lock_all_asked)
        rc = aspx_lock_drop_every(win);
    atomic_store(&win->access, ASPX_ACCESS_NONE);
    return aspx_win_pass(win, rc);
}
