/* SPDX-License-Identifier: BSD-3-Clause */
/* Flush and sync.
 *
 * Memory model. A flush of the internal window returns when the ghost has
 * applied the operations to the arena and answered. The arena is the same
 * physical pages in the ghost and in the target, so the update is then in the
 * coherent memory that the target's loads see: the window is "unified". What
 * remains is order. Ghost: it stores, then sends the answer (a message through
 * shared memory is published with release semantics; a network message leaves
 * after the stores are performed). Origin: it receives the answer (acquire)
 * and then tells the target through MPI or through a lock grant, which are
 * again release and acquire. So the target's later load is ordered after the
 * ghost's store. In the other direction, a target's store before it unlocks,
 * posts or fences is released by that message and acquired by the ghost with
 * the operation that follows from it. A target that polls without a message
 * calls MPI_Win_sync, a full fence here, as MPI asks of it. */
#include "config.h"

#include "sync.h"

#include "runtime/mpi/real.h"
#include "runtime/record.h"
#include "mpi_hand.h"

void aspx_win_ring(const struct aspx_win *win, uint32_t g)
{
    aspx_bell_ring(win->ghosts[g].bell);
}

int aspx_sync_flush(const struct aspx_win *win, uint32_t g)
{
    if (!atomic_load(&win->ghosts[g].used))
        return MPI_SUCCESS;
    aspx_win_ring(win, g);
    return aspx_real.MPI_Win_flush(win->ghosts[g].rank_all, aspx_engine.win);
}

int aspx_sync_flush_every(const struct aspx_win *win)
{
    int rc = MPI_SUCCESS;

    for (int g = 0; rc == MPI_SUCCESS && g < win->nghosts; g++)
        rc = aspx_sync_flush(win, (uint32_t) g);
    return rc;
}

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

int aspx_hand_MPI_Win_flush(int rank, MPI_Win handle)
{
    const struct aspx_win *win = find_locked(handle);

    if (!win || !may_flush(win, rank))
        return aspx_real.MPI_Win_flush(rank, handle);
    aspx_count(ASPX_CALL_FLUSH, ASPX_WAY_GHOST);
    return aspx_win_pass(win, aspx_sync_flush(win, win->targets[rank].ghost));
}

int aspx_hand_MPI_Win_flush_all(MPI_Win handle)
{
    const struct aspx_win *win = find_locked(handle);

    if (!win)
        return aspx_real.MPI_Win_flush_all(handle);
    aspx_count(ASPX_CALL_FLUSH, ASPX_WAY_GHOST);
    return aspx_win_pass(win, aspx_sync_flush_every(win));
}

static int flush_local(const struct aspx_win *win, uint32_t g)
{
    if (!atomic_load(&win->ghosts[g].used))
        return MPI_SUCCESS;
    aspx_win_ring(win, g);
    return aspx_real.MPI_Win_flush_local(win->ghosts[g].rank_all,
                                         aspx_engine.win);
}

int aspx_hand_MPI_Win_flush_local(int rank, MPI_Win handle)
{
    const struct aspx_win *win = find_locked(handle);

    if (!win || !may_flush(win, rank))
        return aspx_real.MPI_Win_flush_local(rank, handle);
    aspx_count(ASPX_CALL_FLUSH, ASPX_WAY_GHOST);
    return aspx_win_pass(win, flush_local(win, win->targets[rank].ghost));
}

int aspx_hand_MPI_Win_flush_local_all(MPI_Win handle)
{
    const struct aspx_win *win = find_locked(handle);
    int rc = MPI_SUCCESS;

    if (!win)
        return aspx_real.MPI_Win_flush_local_all(handle);
    aspx_count(ASPX_CALL_FLUSH, ASPX_WAY_GHOST);
    for (int g = 0; rc == MPI_SUCCESS && g < win->nghosts; g++)
        rc = flush_local(win, (uint32_t) g);
    return aspx_win_pass(win, rc);
}

int aspx_hand_MPI_Win_sync(MPI_Win handle)
{
    int flag;

    if (!find_locked(handle))
        return aspx_real.MPI_Win_sync(handle);
    atomic_thread_fence(memory_order_seq_cst);
    /* Programs that wait in a loop of MPI_Win_sync count on some progress for
     * their other messages, as MPI gives them. */
    return aspx_real.MPI_Iprobe(MPI_ANY_SOURCE, ASPX_LOCK_TAG,
                                aspx_engine.locks, &flag, MPI_STATUS_IGNORE);
}
