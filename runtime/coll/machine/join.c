/* SPDX-License-Identifier: BSD-3-Clause */
/* Steps of MPI_Init that all ranks take together: they compare hashes, and rank
 * 0 broadcasts its table. Waits poll MPI, and give up the job if a rank stays
 * away for too long. */
#include "config.h"

#include "join.h"

#include "settings.h"

#include "runtime/coll/call/call.h"
#include "runtime/base/backoff.h"
#include "runtime/base/clock.h"
#include "runtime/base/log.h"

#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Polls in a row before another process gets the CPU: about 10 us. A small
 * message of a pair that has two CPUs takes less; a yield costs it 0.5 us. */
enum { POLLS = 128 };

/* Of each rank: a hash and its opposite, so that MPI_MAX of both tells whether
 * all are alike. */
enum { HASH, OPPOSITE, VALUES };

static double now_s(void)
{
    return 1e-9 * (double) aspx_clock_ns(CLOCK_MONOTONIC);
}

_Noreturn void aspx_coll_give_up(void)
{
    aspx_log(
        ASPX_LOG_ERROR,
        "some ranks did not join to tune collectives within %d s: "
        "all of them must be started by the same launcher and load Aspen's "
        "library; run with coll=off",
        aspx_coll_settings.join_s);
    aspx_coll_behind.MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    abort();
}

/* What to do after `polls` in vain. */
static void pause_after(uint32_t polls, enum aspx_coll_patience patience,
                        struct aspx_backoff *backoff)
{
    if (patience == ASPX_COLL_NAP)
        aspx_backoff_sleep(backoff, &aspx_wait_table[ASPX_WAIT_COLL_PROBE]);
    else if (patience == ASPX_COLL_YIELD || polls % POLLS == 0)
        sched_yield();
}

void aspx_coll_wait(MPI_Request *request, enum aspx_coll_patience patience)
{
    struct aspx_backoff backoff = {0};
    double end = 0;
    int done = 0;

    for (uint32_t polls = 1;; polls++) {
        aspx_coll_behind.MPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (done)
            return;
        /* A clock costs as much as a poll. */
        if (patience != ASPX_COLL_POLL || polls % POLLS == 0) {
            if (end == 0)
                end = now_s() + aspx_coll_settings.join_s;
            if (now_s() > end)
                aspx_coll_give_up();
        }
        pause_after(polls, patience, &backoff);
    }
}

bool aspx_coll_are_alike(uint64_t hash)
{
    uint64_t own[VALUES] = {[HASH] = hash, [OPPOSITE] = ~hash}, most[VALUES];
    MPI_Request request;

    aspx_coll_behind.MPI_Iallreduce(own, most, VALUES, MPI_UINT64_T, MPI_MAX,
                                    MPI_COMM_WORLD, &request);
    aspx_coll_wait(&request, ASPX_COLL_YIELD);
    return most[HASH] == ~most[OPPOSITE];
}

bool aspx_coll_all_have(MPI_Comm own, bool have)
{
    int mine = have, least = 0;

    aspx_coll_behind.MPI_Allreduce(&mine, &least, 1, MPI_INT, MPI_MIN, own);
    return least;
}

bool aspx_coll_is_first(void)
{
    int rank = 0;

    aspx_coll_behind.MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank == 0;
}
