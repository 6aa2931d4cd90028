/* SPDX-License-Identifier: BSD-3-Clause */
/* One reduction for so many collectives that it is lost among them. */
#include "config.h"

#include "give_back.h"

#include "channel.h"
#include "comm.h"

#include "runtime/base/clock.h"
#include "runtime/base/log.h"
#include "runtime/mpi/real.h"
#include "runtime/posted/ghosts.h"
#include "runtime/world/world.h"

enum { EVERY = 64 };

uint64_t aspx_p2p_given_back_ms;

static bool asks;
static uint64_t calls, began_ns;

/* What is added up; all 0: give back. */
enum {
    WANT_GHOSTS,
    REQUESTS,  /* of ours, in any state */
    UNDER_WAY, /* messages: sent, less received and cancelled */
    WORDS
};

void aspx_p2p_give_back_start(void)
{
    int level = MPI_THREAD_MULTIPLE, mine, all = 0;

    aspx_real.MPI_Query_thread(&level);
    mine = level != MPI_THREAD_MULTIPLE && aspx_ghosts && aspx_ghosts->adapts();
    /* Levels may differ between ranks (MPI 4.0, 11.6). */
    aspx_real.MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_LAND,
                            aspx_world.users);
    asks = all;
    began_ns = aspx_clock_ns(CLOCK_MONOTONIC);
}

static bool agree(MPI_Comm comm)
{
    int64_t words[WORDS] = {
        [WANT_GHOSTS] = aspx_ghosts->helps(),
        [REQUESTS] = atomic_load(&aspx_own_requests),
        [UNDER_WAY] = (int64_t) (aspx_p2p_counts.sent -
                                 aspx_p2p_counts.received -
                                 aspx_p2p_counts.cancelled),
    };
    int64_t all[WORDS] = {0};

    return aspx_real.MPI_Allreduce(words, all, WORDS, MPI_INT64_T, MPI_SUM,
                                   aspx_comm(comm)) == MPI_SUCCESS &&
           all[WANT_GHOSTS] == 0 && all[REQUESTS] == 0 && all[UNDER_WAY] == 0;
}

static void consider(MPI_Comm comm)
{
    const struct aspx_p2p_comm *known = aspx_p2p_comm_of(comm);

    if (!known || !known->by_knob || known->size != aspx_world.size_users ||
        ++calls % EVERY || !agree(comm))
        return;
    aspx_p2p_comms_give_back();
    aspx_p2p_given_back_ms = (aspx_clock_ns(CLOCK_MONOTONIC) - began_ns) /
                                 1000000 +
                             1;
    if (aspx_world.rank_user == 0)
        aspx_trace("messages are MPI's from here on: all ranks are in MPI for "
                   "most of the time");
}

int aspx_p2p_at_collective(int rc, MPI_Comm comm)
{
    if (asks && rc == MPI_SUCCESS && !aspx_p2p_given_back_ms)
        consider(comm);
    return rc;
}
