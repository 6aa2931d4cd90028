/* SPDX-License-Identifier: BSD-3-Clause */
/* A request is one message, a grant is an empty one with a tag of the request,
 * so threads that wait at the same time find their own. Requests of one origin
 * to one ghost stay in order (same communicator and tag): an unlock is served
 * before the next lock of the same origin. */
#include "config.h"

#include "lock_client.h"

#include "runtime/mpi/real.h"

#include <sched.h>
#include <stdlib.h>

/* Poll this often before giving the CPU away: a grant takes a few us. */
enum { POLLS_BEFORE_YIELD = 64 };

static _Atomic uint32_t tags;

static int send_message(const struct aspx_win *win, uint32_t g, uint32_t verb,
                        uint32_t target, uint32_t reply_tag)
{
    const struct aspx_lock_message message = {win->id, verb, target, reply_tag,
                                              0};
    int rc = aspx_real.MPI_Send(&message, sizeof(message), MPI_BYTE,
                                win->ghosts[g].rank_all, ASPX_LOCK_TAG,
                                aspx_engine.locks);

    aspx_win_ring(win, g);
    return rc;
}

static int ask(const struct aspx_win *win, uint32_t g, uint32_t verb,
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

int aspx_lock_take(const struct aspx_win *win, uint32_t g, uint32_t verb,
                   uint32_t target)
{
    MPI_Request grant;
    int rc = ask(win, g, verb, target, &grant);

    return rc == MPI_SUCCESS ? await(&grant) : rc;
}

int aspx_lock_take_every(const struct aspx_win *win)
{
    MPI_Request *grants = malloc(sizeof(*grants) * (size_t) win->nghosts);
    int rc = grants ? MPI_SUCCESS : MPI_ERR_NO_MEM;

    for (uint32_t g = 0; rc == MPI_SUCCESS && g < (uint32_t) win->nghosts; g++)
        rc = ask(win, g, ASPX_LOCK_SHARED, ASPX_LOCK_EVERY, &grants[g]);
    for (int g = 0; rc == MPI_SUCCESS && g < win->nghosts; g++)
        rc = await(&grants[g]);
    free(grants);
    return rc;
}

int aspx_lock_drop(const struct aspx_win *win, uint32_t g, uint32_t target)
{
    return send_message(win, g, ASPX_UNLOCK, target, 0);
}

int aspx_lock_drop_every(const struct aspx_win *win)
{
    int rc = MPI_SUCCESS;

    for (uint32_t g = 0; rc == MPI_SUCCESS && g < (uint32_t) win->nghosts; g++)
        rc = aspx_lock_drop(win, g, ASPX_LOCK_EVERY);
    return rc;
}
