/* SPDX-License-Identifier: BSD-3-Clause */
/* A request is one message, a grant is an empty one with a tag of the request,
 * so threads that wait at the same time find their own. Requests of one origin
 * to one ghost stay in order (same communicator and tag): an unlock is served
 * before the next lock of the same origin. */
#include "config.h"

#include "client.h"
#include "locks.h"

#include "runtime/mpi/real.h"
#include "runtime/profile/profile.h"

#include <stdlib.h>

/* Poll this often before giving the CPU away: a grant takes a few us. */
enum { POLLS_BEFORE_YIELD = 64 };

_Atomic uint64_t aspx_lock_idle_calls;

static _Atomic uint32_t tags;

/* Locks that this process holds, of all windows; a lock_all counts as one. */
static _Atomic int held_by_us;

/* A question to a ghost on its way. */
struct question {
    MPI_Request answer;
    char refused; /* receives a byte only then */
    bool yes;
};

static int send_message(struct aspx_win *win, uint32_t g,
                        enum aspx_lock_verb verb, uint32_t target,
                        uint32_t reply_tag, enum aspx_lock_passes passes)
{
    bool every = target == ASPX_LOCK_EVERY;
    const struct aspx_lock_message message = {
        .window = win->id,
        .words_off = every ? win->ghosts[g].words_off
                           : win->targets[target].word_off,
        .words = every ? win->ghosts[g].words : 1,
        .verb = (uint16_t) verb,
        .passes = (uint16_t) passes,
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

static int ask_ghost(struct aspx_win *win, uint32_t g, enum aspx_lock_verb verb,
                     uint32_t target, enum aspx_lock_passes passes,
                     struct question *question)
{
    uint32_t tag = ASPX_REPLY_TAG_FIRST +
                   atomic_fetch_add(&tags, 1) % ASPX_REPLY_TAGS;
    int rc = aspx_real.MPI_Irecv(&question->refused, 1, MPI_BYTE,
                                 win->ghosts[g].rank_all, (int) tag,
                                 aspx_engine.locks, &question->answer);

    if (rc != MPI_SUCCESS)
        return rc;
    return send_message(win, g, verb, target, tag, passes);
}

/* MPI_Wait() would spin without yielding, and the holder may need this CPU. */
static int await_answer(struct question *question)
{
    MPI_Status status;
    int done = 0, bytes, rc;

    for (unsigned polls = 1; !done; polls++) {
        rc = aspx_real.MPI_Test(&question->answer, &done, &status);
        if (rc != MPI_SUCCESS)
            return rc;
        if (!done && polls % POLLS_BEFORE_YIELD == 0)
            aspx_profile_yield();
    }
    rc = aspx_real.MPI_Get_count(&status, MPI_BYTE, &bytes);
    question->yes = bytes == 0;
    return rc;
}

static enum aspx_lock_passes who_passes(bool more)
{
    if (more)
        return ASPX_PASSES_NOW;
    return atomic_load(&held_by_us) > 0 ? ASPX_PASSES_LATE : ASPX_PASSES_NOT;
}

int aspx_lock_take(struct aspx_win *win, int rank, bool exclusive, bool more,
                   enum aspx_held *held_p)
{
    struct aspx_target *target = &win->targets[rank];
    struct question question;
    int rc;

    if (target->word && aspx_word_try(target->word, exclusive)) {
        aspx_lock_progress_rarely();
        *held_p = exclusive ? ASPX_HELD_EXCLUSIVE : ASPX_HELD_SHARED;
        atomic_fetch_add(&held_by_us, 1);
        return MPI_SUCCESS;
    }
    *held_p = ASPX_HELD_GHOST;
    rc = ask_ghost(win, target->ghost,
                   exclusive ? ASPX_LOCK_EXCLUSIVE : ASPX_LOCK_SHARED,
                   (uint32_t) rank, who_passes(more), &question);
    if (rc == MPI_SUCCESS)
        rc = await_answer(&question);
    if (rc == MPI_SUCCESS)
        atomic_fetch_add(&held_by_us, 1);
    return rc;
}

int aspx_lock_drop(struct aspx_win *win, int rank, enum aspx_held held)
{
    struct aspx_target *target = &win->targets[rank];

    atomic_fetch_sub(&held_by_us, 1);
    if (held == ASPX_HELD_GHOST)
        return send_message(win, target->ghost, ASPX_UNLOCK, (uint32_t) rank, 0,
                            ASPX_PASSES_NOT);
    if (aspx_word_release(target->word, held == ASPX_HELD_EXCLUSIVE))
        aspx_win_ring(win, target->ghost);
    return MPI_SUCCESS;
}

static bool has_targets(const struct aspx_win_ghost *ghost)
{
    return ghost->words > 0;
}

static bool was_asked(const struct aspx_win_ghost *ghost)
{
    return atomic_load(&ghost->asked);
}

/* Ask every ghost that is `concerned` and wait for all answers. questions has
 * room for all ghosts; the others of them say no. */
static int ask_ghosts(struct aspx_win *win, enum aspx_lock_verb verb,
                      bool concerned(const struct aspx_win_ghost *ghost),
                      struct question *questions)
{
    int rc = MPI_SUCCESS;

    for (uint32_t g = 0; rc == MPI_SUCCESS && g < win->nghosts; g++) {
        questions[g] = (struct question){.answer = MPI_REQUEST_NULL};
        if (concerned(&win->ghosts[g]))
            rc = ask_ghost(win, g, verb, ASPX_LOCK_EVERY, ASPX_PASSES_NOT,
                           &questions[g]);
    }
    for (uint32_t g = 0; rc == MPI_SUCCESS && g < win->nghosts; g++)
        if (questions[g].answer != MPI_REQUEST_NULL)
            rc = await_answer(&questions[g]);
    return rc;
}

/* Some ghost refused. Keep what lies before the first that did, give the rest
 * back, and take it again one by one: an origin that waits at a ghost holds
 * only ghosts before it, so no circle can close. The ghosts of a window stand
 * in the same order in all its processes. */
static int take_in_order(struct aspx_win *win, struct question *questions)
{
    uint32_t first = 0;
    int rc = MPI_SUCCESS;

    while (!has_targets(&win->ghosts[first]) || questions[first].yes)
        first++;
    for (uint32_t g = first; rc == MPI_SUCCESS && g < win->nghosts; g++)
        if (questions[g].yes)
            rc = send_message(win, g, ASPX_UNLOCK, ASPX_LOCK_EVERY, 0,
                              ASPX_PASSES_NOT);
    for (uint32_t g = first; rc == MPI_SUCCESS && g < win->nghosts; g++) {
        if (!has_targets(&win->ghosts[g]))
            continue;
        rc = ask_ghost(win, g, ASPX_LOCK_SHARED, ASPX_LOCK_EVERY,
                       who_passes(false), &questions[g]);
        if (rc == MPI_SUCCESS)
            rc = await_answer(&questions[g]);
    }
    return rc;
}

int aspx_lock_take_every(struct aspx_win *win)
{
    struct question *questions = malloc(sizeof(*questions) * win->nghosts);
    bool all = true;
    int rc = MPI_ERR_NO_MEM;

    if (questions)
        rc = ask_ghosts(win, ASPX_LOCK_TRY, has_targets, questions);
    for (uint32_t g = 0; rc == MPI_SUCCESS && g < win->nghosts; g++)
        if (has_targets(&win->ghosts[g]) && !questions[g].yes)
            all = false;
    if (!all)
        rc = take_in_order(win, questions);
    if (rc == MPI_SUCCESS)
        atomic_fetch_add(&held_by_us, 1);
    free(questions);
    return rc;
}

int aspx_lock_drop_every(struct aspx_win *win)
{
    int rc = MPI_SUCCESS;

    atomic_fetch_sub(&held_by_us, 1);
    for (uint32_t g = 0; rc == MPI_SUCCESS && g < win->nghosts; g++)
        if (has_targets(&win->ghosts[g]))
            rc = send_message(win, g, ASPX_UNLOCK, ASPX_LOCK_EVERY, 0,
                              ASPX_PASSES_NOT);
    return rc;
}

int aspx_lock_settle(struct aspx_win *win)
{
    struct question *questions = malloc(sizeof(*questions) * win->nghosts);
    int rc = MPI_ERR_NO_MEM;

    if (questions)
        rc = ask_ghosts(win, ASPX_LOCK_SETTLE, was_asked, questions);
    free(questions);
    return rc;
}

int aspx_lock_progress(void)
{
    int flag;

    return aspx_real.MPI_Iprobe(MPI_ANY_SOURCE, ASPX_LOCK_TAG,
                                aspx_engine.locks, &flag, MPI_STATUS_IGNORE);
}
