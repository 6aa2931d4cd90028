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

#include "runtime/casper/rma/balance.h"
#include "runtime/casper/arena/ghost_scaling.h"
#include "runtime/casper/arena/contig_win.h"
#include "sync.h"

#include "runtime/mpi/real.h"
#include "runtime/record/record.h"
#include "mpi_hand.h"

/* Calls that found nothing to do, between two looks at MPI. */
enum { CALLS_BEFORE_POKE = 16 };

/* A program may wait in a loop of flushes or locks for something that another
 * process does only after a message of ours: MPI makes progress in these calls,
 * so ours do, when they have no other reason to call MPI. Costs little for
 * programs that do not wait. */
void aspx_sync_poke(void)
{
    static _Atomic uint64_t calls;
    int flag;

    if (aspx_tally(&calls, 1) % CALLS_BEFORE_POKE == 0)
        aspx_real.MPI_Iprobe(MPI_ANY_SOURCE, ASPX_LOCK_TAG, aspx_engine.locks,
                             &flag, MPI_STATUS_IGNORE);
}

typedef int flush_f(int rank, MPI_Win win);

/* Complete with `flush` what this process issued to ghost g. What another
 * thread issues meanwhile is that thread's to flush.
 *   called  set when MPI was called */
static int flush_ghost(struct aspx_win *win, uint32_t g, flush_f *flush,
                       bool *called)
{
    struct aspx_win_ghost *ghost = &win->ghosts[g];
    uint64_t sent = atomic_load(&ghost->sent.issued);
    uint64_t flat = atomic_load(&ghost->flat.issued);
    bool do_sent = atomic_load(&ghost->sent.flushed) < sent;
    bool do_flat = atomic_load(&ghost->flat.flushed) < flat;
    int rc = MPI_SUCCESS;

    if (!do_sent && !do_flat)
        return MPI_SUCCESS;
    *called = true;
    aspx_bell_ring(ghost->bell);
    aspx_balance_ask(win, ghost->rank_all, do_flat);
    aspx_duty_ask(ghost->rank_all, do_flat);
    atomic_store_explicit(&ghost->bytes, 0, memory_order_relaxed);
    if (do_flat) {
        rc = aspx_flat_flush(ghost->rank_all, aspx_engine.flat);
        if (rc != MPI_SUCCESS)
            return rc;
        aspx_sync_note(&ghost->flat.flushed, flat);
    }
    if (do_sent)
        rc = flush(ghost->rank_all, aspx_engine.win);
    if (rc == MPI_SUCCESS && flush == aspx_real.MPI_Win_flush)
        aspx_sync_note(&ghost->sent.flushed, sent);
    return rc;
}

/* The same for what targets, or their devices, carry out. */
static int flush_itself(struct aspx_win *win, int rank, flush_f *flush,
                        bool *called)
{
    struct aspx_target *target = &win->targets[rank];
    uint64_t sent = atomic_load(&target->sent.issued);
    uint64_t flat = atomic_load(&target->flat.issued);
    int rc = MPI_SUCCESS;

    if (atomic_load(&target->flat.flushed) < flat) {
        *called = true;
        rc = aspx_flat_flush(rank, win->flat);
        if (rc != MPI_SUCCESS)
            return rc;
        aspx_sync_note(&target->flat.flushed, flat);
    }
    if (atomic_load(&target->sent.flushed) < sent) {
        *called = true;
        rc = flush(target->rank_all, aspx_engine.win);
        if (rc == MPI_SUCCESS && flush == aspx_real.MPI_Win_flush)
            aspx_sync_note(&target->sent.flushed, sent);
    }
    return rc;
}

static int flush_themselves(struct aspx_win *win, flush_f *flush, bool *called)
{
    struct aspx_flow *flow = &win->turn.to_targets;
    uint64_t issued = atomic_load(&flow->issued);
    int rc = MPI_SUCCESS;

    if (atomic_load(&flow->flushed) >= issued)
        return MPI_SUCCESS;
    for (int i = 0; rc == MPI_SUCCESS && i < win->size; i++)
        rc = flush_itself(win, i, flush, called);
    if (rc == MPI_SUCCESS && flush == aspx_real.MPI_Win_flush)
        aspx_sync_note(&flow->flushed, issued);
    return rc;
}

/* Who fences waits for all others anyway. */
static void note_wait(const struct aspx_win *win, bool called)
{
    if (!called)
        aspx_sync_poke();
    else if (atomic_load_explicit(&win->access, memory_order_relaxed) >=
             ASPX_ACCESS_LOCK)
        aspx_adapt_count_wait();
}

/* Ghosts other than the main one serve a target by segment or balance. */
static int flush_target(struct aspx_win *win, int rank, flush_f *flush)
{
    const struct aspx_target *target = &win->targets[rank];
    uint64_t served_by = atomic_load(&target->served_by);
    uint32_t first = win->nodes[target->node].first_ghost;
    bool called = false;
    int rc = flush_itself(win, rank, flush, &called);

    for (; rc == MPI_SUCCESS && served_by; served_by &= served_by - 1)
        rc = flush_ghost(win, first + (uint32_t) __builtin_ctzll(served_by),
                         flush, &called);
    note_wait(win, called);
    atomic_thread_fence(memory_order_release); /* direct copies */
    return rc;
}

static int flush_every(struct aspx_win *win, flush_f *flush)
{
    bool called = false;
    int rc = flush_themselves(win, flush, &called);

    for (uint32_t g = 0; rc == MPI_SUCCESS && g < win->nghosts; g++)
        rc = flush_ghost(win, g, flush, &called);
    note_wait(win, called);
    atomic_thread_fence(memory_order_release);
    return rc;
}

void aspx_sync_note(_Atomic uint64_t *flushed, uint64_t issued)
{
    uint64_t seen = atomic_load(flushed);

    if (!aspx_threads) {
        atomic_store_explicit(flushed, issued, memory_order_relaxed);
        return;
    }
    while (seen < issued &&
           !atomic_compare_exchange_weak(flushed, &seen, issued))
        ;
}

int aspx_sync_flush(struct aspx_win *win, int rank)
{
    return flush_target(win, rank, aspx_real.MPI_Win_flush);
}

int aspx_sync_flush_every(struct aspx_win *win)
{
    return flush_every(win, aspx_real.MPI_Win_flush);
}

int aspx_sync_flush_ghost(struct aspx_win *win, uint32_t g)
{
    bool called;

    return flush_ghost(win, g, aspx_real.MPI_Win_flush, &called);
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
    struct aspx_win *win = find_locked(handle);

    if (!win || !may_flush(win, rank))
        return aspx_real.MPI_Win_flush(rank, handle);
    aspx_count(ASPX_CALL_FLUSH, ASPX_WAY_GHOST);
    return aspx_win_pass(win, aspx_sync_flush(win, rank));
}

int aspx_hand_MPI_Win_flush_all(MPI_Win handle)
{
    struct aspx_win *win = find_locked(handle);

    if (!win)
        return aspx_real.MPI_Win_flush_all(handle);
    aspx_count(ASPX_CALL_FLUSH, ASPX_WAY_GHOST);
    return aspx_win_pass(win, aspx_sync_flush_every(win));
}

int aspx_hand_MPI_Win_flush_local(int rank, MPI_Win handle)
{
    struct aspx_win *win = find_locked(handle);

    if (!win || !may_flush(win, rank))
        return aspx_real.MPI_Win_flush_local(rank, handle);
    aspx_count(ASPX_CALL_FLUSH, ASPX_WAY_GHOST);
    return aspx_win_pass(
        win, flush_target(win, rank, aspx_real.MPI_Win_flush_local));
}

int aspx_hand_MPI_Win_flush_local_all(MPI_Win handle)
{
    struct aspx_win *win = find_locked(handle);

    if (!win)
        return aspx_real.MPI_Win_flush_local_all(handle);
    aspx_count(ASPX_CALL_FLUSH, ASPX_WAY_GHOST);
    return aspx_win_pass(win, flush_every(win, aspx_real.MPI_Win_flush_local));
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
