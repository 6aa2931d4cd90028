/* SPDX-License-Identifier: BSD-3-Clause */
/* A request is one message, a grant is an empty one with a tag of the request,
 * so threads that wait at the same time find their own. Requests of one origin
 * to one ghost stay in order (same communicator and tag): an unlock is served
 * before the next lock of the same origin. */
#include "config.h"

#include "lock_client.h"
#include "sync.h"

#include "runtime/mpi/real.h"

#include <sched.h>
#include <stdlib.h>

/* Poll this often before giving the CPU away: a grant takes a few us. */
enum { POLLS_BEFORE_YIELD = 64 };

static _Atomic uint32_t tags;

static int send_message(struct aspx_win *win, uint32_t g, uint32_t verb,
                        uint32_t target, uint32_t reply_tag)
{
    bool every = target == ASPX_LOCK_EVERY;
    const struct aspx_lock_message message = {
        .window = win->id,
        .words_off = every ? win->ghosts[g].words_off
                           : win->targets[target].word_off,
        .words = every ? win->ghosts[g].words : 1,
        .verb = verb,
        .target = target,
        .reply_tag = reply_tag,
    };
    int rc;

    atomic_store_explicit(&win->ghosts[g].asked, true, memory_order_relaxed);
    rc = aspx_real.MPI_Send(&message, sizeof(message), MPI_BYTE,
                                win->ghosts[g].rank_all, ASPX_LOCK_TAG,
                                aspx_engine.locks);

    aspx_win_ring(win, g);
    return rc;
}

static int ask(struct aspx_win *win, uint32_t g, uint32_t verb,
               uint32_t target, MPI_Request *grant)
{
    uint32_t tag = ASPX_REPLY_TAG_FIRST +
                   atomic_fetch_add(&tags, 1) % ASPX_REPLY_TAGS;
    int rc = aspx_real.MPI_Irecv(NULL, 0, MPI_BYTE, win->ghosts[g].rank_all,
                                 (int) tag, aspx_engine.locks, grant);

    if (rc != MPI_SUCCESS)
        return rc;
    return send_message(win, g, verb, target, tag);
}

/* MPI_Wait() would spin without yielding, and the holder may need this CPU. */
static int await(MPI_Request *grant)
{
    int done = 0, rc;

    for (unsigned polls = 1;; polls++) {
        rc = aspx_real.MPI_Test(grant, &done, MPI_STATUS_IGNORE);
        if (rc != MPI_SUCCESS || done)
            return rc;
        if (polls % POLLS_BEFORE_YIELD == 0)
            sched_yield();
    }
}

int aspx_lock_take(struct aspx_win *win, int rank, bool exclusive,
                   enum aspx_held *held_p)
{
    struct aspx_target *target = &win->targets[rank];
    MPI_Request grant;
    int rc;

    if (target->word && aspx_word_try(target->word, exclusive)) {
        aspx_sync_poke();
        *held_p = exclusive ? ASPX_HELD_EXCLUSIVE : ASPX_HELD_SHARED;
        return MPI_SUCCESS;
    }
    *held_p = ASPX_HELD_GHOST;
    rc = ask(win, target->ghost,
             exclusive ? ASPX_LOCK_EXCLUSIVE : ASPX_LOCK_SHARED,
             (uint32_t) rank, &grant);
    return rc == MPI_SUCCESS ? await(&grant) : rc;
}

int aspx_lock_drop(struct aspx_win *win, int rank, enum aspx_held held)
{
    struct aspx_target *target = &win->targets[rank];

    if (held == ASPX_HELD_GHOST)
        return send_message(win, target->ghost, ASPX_UNLOCK, (uint32_t) rank,
                            0);
    if (aspx_word_release(target->word, held == ASPX_HELD_EXCLUSIVE))
        aspx_win_ring(win, target->ghost);
    return MPI_SUCCESS;
}

/* Ask every ghost that `concerns` names and wait for all answers. */
static int ask_every(struct aspx_win *win, uint32_t verb,
                     bool concerns(const struct aspx_win_ghost *ghost))
{
    MPI_Request *grants = malloc(sizeof(*grants) * win->nghosts);
    int rc = grants ? MPI_SUCCESS : MPI_ERR_NO_MEM;

    for (uint32_t g = 0; rc == MPI_SUCCESS && g < win->nghosts; g++) {
        grants[g] = MPI_REQUEST_NULL;
        if (concerns(&win->ghosts[g]))
            rc = ask(win, g, verb, ASPX_LOCK_EVERY, &grants[g]);
    }
    for (uint32_t g = 0; rc == MPI_SUCCESS && g < win->nghosts; g++)
        rc = await(&grants[g]);
    free(grants);
    return rc;
}

static bool has_targets(const struct aspx_win_ghost *ghost)
{
    return ghost->words > 0;
}

static bool was_asked(const struct aspx_win_ghost *ghost)
{
    return atomic_load(&ghost->asked);
}

int aspx_lock_take_every(struct aspx_win *win)
{
    return ask_every(win, ASPX_LOCK_SHARED, has_targets);
}

int aspx_lock_settle(struct aspx_win *win)
{
    return ask_every(win, ASPX_LOCK_SETTLE, was_asked);
}

int aspx_lock_drop_every(struct aspx_win *win)
{
    int rc = MPI_SUCCESS;

    for (uint32_t g = 0; rc == MPI_SUCCESS && g < win->nghosts; g++)
        if (has_targets(&win->ghosts[g]))
            rc = send_message(win, g, ASPX_UNLOCK, ASPX_LOCK_EVERY, 0);
    return rc;
}
