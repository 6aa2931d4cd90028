/* SPDX-License-Identifier: BSD-3-Clause */
/* Completing what was issued.
 *
 * Memory model. A flush of the internal window (casper/arena/arrival.h) returns
 * when the ghost has applied the operations to the arena and answered. The
 * arena is the same physical pages in the ghost and in the target, so the
 * update is then in the coherent memory that the target's loads see: the window
 * is "unified". What remains is order. Ghost: it stores, then sends the answer
 * (a message through shared memory is published with release semantics; a
 * network message leaves after the stores are performed). Origin: it receives
 * the answer (acquire) and then tells the target through MPI or through a lock
 * grant, which are again release and acquire. So the target's later load is
 * ordered after the ghost's store. In the other direction, a target's store
 * before it unlocks, posts or fences is released by that message and acquired
 * by the ghost with the operation that follows from it. A target that polls
 * without a message calls MPI_Win_sync, a full fence here, as MPI asks of it.
 */
#include "config.h"

#include "balance.h"
#include "flush.h"
#include "runtime/casper/lock/client.h"
#include "runtime/casper/arena/arrival.h"
#include "runtime/casper/arena/contig_win.h"
#include "runtime/casper/arena/ghost_scaling.h"

#include "runtime/mpi/real.h"

/* Raise *known to `now`; another thread may have raised it further. */
static void raise_to(_Atomic uint64_t *known, uint64_t now)
{
    uint64_t seen = atomic_load(known);

    if (!aspx_threads) {
        atomic_store_explicit(known, now, memory_order_relaxed);
        return;
    }
    while (seen < now && !atomic_compare_exchange_weak(known, &seen, now))
        ;
}

static bool is_open(const struct aspx_flow *flow)
{
    return atomic_load(&flow->flushed) < atomic_load(&flow->issued);
}

/* What a flush that begins now completes. */
struct seen {
    uint64_t issued, late;
    bool late_open;
};

static struct seen look(const struct aspx_flow *flow)
{
    uint64_t issued = atomic_load(&flow->issued); /* first */
    uint64_t late = atomic_load(&flow->late);

    return (struct seen){issued, late, late > atomic_load(&flow->arrived)};
}

static void note_flushed(struct aspx_flow *flow, const struct seen *seen)
{
    raise_to(&flow->flushed, seen->issued);
    raise_to(&flow->arrived, seen->late);
}

static int flush_contig(struct aspx_flow *flow, int rank, MPI_Win contig_win)
{
    struct seen seen = look(flow);
    int rc = aspx_contig_win_flush(rank, contig_win, seen.late_open);

    if (rc == MPI_SUCCESS)
        note_flushed(flow, &seen);
    return rc;
}

/* at  displacement of a byte of the rank's, on the dynamic window */
static int flush_dynamic(struct aspx_flow *flow, int rank, aspx_flush_f *flush,
                         uint64_t at)
{
    struct seen seen = look(flow);
    bool there = flush == aspx_real.MPI_Win_flush;
    int rc = there && seen.late_open
                 ? aspx_arrival_flush(rank, aspx_engine.win, (MPI_Aint) at)
                 : flush(rank, aspx_engine.win);

    if (rc == MPI_SUCCESS && there)
        note_flushed(flow, &seen);
    return rc;
}

/* All that was sent to the ghost has got there. */
static void settle(struct aspx_win_ghost *ghost)
{
    if (atomic_load_explicit(&ghost->owes, memory_order_relaxed) &&
        atomic_exchange(&ghost->owes, false))
        atomic_fetch_sub(&ghost->doorbell->owed, 1);
}

/* A ghost that does not see the messages of its node is told that more may
 * come. */
static bool is_told(const struct aspx_win_ghost *ghost)
{
    return aspx_engine.rings && ghost->doorbell;
}

static void begin_wait(const struct aspx_win_ghost *ghost)
{
    if (is_told(ghost))
        atomic_fetch_add(&ghost->doorbell->awaited, 1);
}

static void end_wait(struct aspx_win_ghost *ghost)
{
    if (is_told(ghost))
        atomic_fetch_sub(&ghost->doorbell->awaited, 1);
    settle(ghost);
}

void aspx_flush_owe(struct aspx_win_ghost *ghost)
{
    if (is_told(ghost) && !atomic_exchange(&ghost->owes, true))
        atomic_fetch_add(&ghost->doorbell->owed, 1);
}

/* Complete with `flush` what this process issued to ghost g. What another
 * thread issues meanwhile is that thread's to flush.
 *   called  set when MPI was called */
static int flush_ghost(struct aspx_win *win, uint32_t g, aspx_flush_f *flush,
                       bool *called)
{
    struct aspx_win_ghost *ghost = &win->ghosts[g];
    bool sent = is_open(&ghost->sent), contig = is_open(&ghost->contig);
    int rc = MPI_SUCCESS;

    if (!sent && !contig) {
        settle(ghost);
        return MPI_SUCCESS;
    }
    *called = true;
    begin_wait(ghost);
    aspx_doorbell_ring(ghost->doorbell);
    aspx_balance_ask(win, ghost->rank_all, contig);
    aspx_ghost_scaling_ask(ghost->rank_all, contig);
    atomic_store_explicit(&ghost->bytes, 0, memory_order_relaxed);
    if (contig)
        rc = flush_contig(&ghost->contig, ghost->rank_all,
                          aspx_engine.contig_win);
    if (sent && rc == MPI_SUCCESS)
        rc = flush_dynamic(&ghost->sent, ghost->rank_all, flush,
                           aspx_engine.arena_addr[ghost->rank_all]);
    end_wait(ghost);
    return rc;
}

/* The same for what targets, or their devices, carry out. */
static int flush_itself(struct aspx_win *win, int rank, aspx_flush_f *flush,
                        bool *called)
{
    struct aspx_target *target = &win->targets[rank];
    bool sent = is_open(&target->sent), contig = is_open(&target->contig);
    int rc = MPI_SUCCESS;

    if (!sent && !contig)
        return MPI_SUCCESS;
    *called = true;
    if (contig)
        rc = flush_contig(&target->contig, rank, win->contig_win);
    if (sent && rc == MPI_SUCCESS)
        rc = flush_dynamic(&target->sent, target->rank_all, flush,
                           aspx_engine.arena_addr[target->rank_all] +
                               target->off);
    return rc;
}

static int flush_themselves(struct aspx_win *win, aspx_flush_f *flush,
                            bool *called)
{
    struct aspx_flow *flow = &win->turn.to_targets;
    uint64_t issued = atomic_load(&flow->issued);
    int rc = MPI_SUCCESS;

    if (atomic_load(&flow->flushed) >= issued)
        return MPI_SUCCESS;
    for (int i = 0; rc == MPI_SUCCESS && i < win->size; i++)
        rc = flush_itself(win, i, flush, called);
    if (rc == MPI_SUCCESS && flush == aspx_real.MPI_Win_flush)
        raise_to(&flow->flushed, issued);
    return rc;
}

/* Flushes under a lock that had to wait count for adaptation; a fence waits for
 * all others in any case. */
static void note_wait(const struct aspx_win *win, bool called)
{
    if (!called)
        aspx_lock_progress_rarely();
    else if (atomic_load_explicit(&win->access, memory_order_relaxed) >=
             ASPX_ACCESS_LOCK)
        aspx_adapt_count_wait();
}

/* Ghosts other than the main one serve a target by segment or balance. */
int aspx_flush_with(struct aspx_win *win, int rank, aspx_flush_f *flush)
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

int aspx_flush_every_with(struct aspx_win *win, aspx_flush_f *flush)
{
    bool called = false;
    int rc = flush_themselves(win, flush, &called);

    for (uint32_t g = 0; rc == MPI_SUCCESS && g < win->nghosts; g++)
        rc = flush_ghost(win, g, flush, &called);
    note_wait(win, called);
    atomic_thread_fence(memory_order_release);
    return rc;
}

int aspx_flush_ghost(struct aspx_win *win, uint32_t g)
{
    bool called;

    return flush_ghost(win, g, aspx_real.MPI_Win_flush, &called);
}
