/* SPDX-License-Identifier: BSD-3-Clause */
/* Gathers the offers of all ranks within a time limit: on a node without the
 * plugin the program itself runs in the place of a ghost, and never joins. A
 * collective cannot tell which ranks are missing, so the process that gives up
 * first asks every rank, and all that wait in here answer. The
 * messages use tags of the real world, which only we know until MPI_Init
 * returns; a rank that has not joined may see one, but its job is over. */
#include "config.h"

#include "join.h"

#include "runtime/base/backoff.h"
#include "runtime/base/clock.h"
#include "runtime/mpi/real.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    OFFER_VERSION = 2, /* grows with what processes do when they start */
    ANSWER_S = 3,      /* the others answer within microseconds */
    TAG_ASK = 30011,
    TAG_HERE = 30012,
    NAMED_MAX = 8, /* missing ranks that the message names */
};

struct roll {
    bool *here;      /* by world rank */
    int first_asker; /* lowest rank that called the roll, or size_all */
};

static double now_s(void)
{
    return 1e-9 * (double) aspx_clock_ns(CLOCK_MONOTONIC);
}

/* Take one message with this tag, if there is one. Returns its source or -1. */
static int take(int tag)
{
    MPI_Status status;
    int flag = 0;

    aspx_real.MPI_Iprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &flag, &status);
    if (!flag)
        return -1;
    aspx_real.MPI_Recv(NULL, 0, MPI_BYTE, status.MPI_SOURCE, tag,
                       MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return status.MPI_SOURCE;
}

/* Nobody waits for these: the receiver may never call MPI again. */
static void post(int rank, int tag)
{
    MPI_Request request;

    aspx_real.MPI_Isend(NULL, 0, MPI_BYTE, rank, tag, MPI_COMM_WORLD, &request);
    aspx_real.MPI_Request_free(&request);
}

/* Answer the ranks that ask which are here. */
static void answer_roll_call(struct roll *roll)
{
    for (int asker = take(TAG_ASK); asker >= 0; asker = take(TAG_ASK)) {
        if (asker < roll->first_asker)
            roll->first_asker = asker;
        post(asker, TAG_HERE);
    }
}

static void call_roll(const struct aspx_world *world, struct roll *roll)
{
    double end = now_s() + ANSWER_S;

    for (int r = 0; r < world->size_all; r++)
        if (r != world->rank_all)
            post(r, TAG_ASK);
    roll->here[world->rank_all] = true;
    while (now_s() < end) {
        for (int r = take(TAG_HERE); r >= 0; r = take(TAG_HERE))
            roll->here[r] = true;
        answer_roll_call(roll);
        sched_yield();
    }
}

/* Name of the node of a world rank, or "". */
static const char *node_name(const struct asp_layout *layout, int rank)
{
    for (uint32_t n = 0; layout->nodes && n < layout->nnodes; n++)
        for (uint32_t t = 0; t < layout->nodes[n].ntasks; t++)
            if (layout->nodes[n].ranks_world[t] == (uint32_t) rank)
                return layout->nodes[n].name;
    return "";
}

/* "rank 3 on n2, rank 5 on n3 and 2 more". Returns the number of missing ranks.
 */
static int name_missing(const struct aspx_world *world, const bool *here,
                        char *text, size_t size)
{
    int missing = 0;
    size_t used = 0;

    text[0] = '\0';
    for (int r = 0; r < world->size_all; r++) {
        const char *node = node_name(world->layout, r);

        if (here[r] || ++missing > NAMED_MAX || used >= size)
            continue;
        used += (size_t) snprintf(text + used, size - used, "%srank %d%s%.20s",
                                  missing > 1 ? ", " : "", r,
                                  node[0] ? " on " : "", node);
    }
    if (missing > NAMED_MAX && used < size)
        snprintf(text + used, size - used, " and %d more", missing - NAMED_MAX);
    return missing;
}

/* The exchange failed: find out whose fault it was. */
static int give_up(const struct aspx_world *world, struct roll *roll,
                   struct asp_err *err)
{
    char names[NAMED_MAX * 48];
    int missing;

    call_roll(world, roll);
    if (roll->first_asker < world->rank_all) {
        /* The lowest rank that asked prints it; give it time. */
        sched_yield();
        aspx_backoff_nap(ASPX_WAIT_OTHER_REPORTS);
        return asp_errf(err, ETIMEDOUT, "%s", "");
    }
    missing = name_missing(world, roll->here, names, sizeof(names));
    return asp_errf(err, ETIMEDOUT,
                    "%d of %d ranks of job %s did not join within %d s (%s); "
                    "is Aspen installed on every node? Run with "
                    "--async-progress=off until it is",
                    missing, world->size_all, world->layout->job,
                    world->layout->knobs.init_timeout_s, names);
}

/* MPI_Allgather with a deadline. Returns 0, or -1: a collective cannot be
 * cancelled, so the offers are MPI's for ever then. */
static int exchange(const struct aspx_world *world, struct aspx_offer *offers,
                    struct roll *roll)
{
    double end = now_s() + world->layout->knobs.init_timeout_s;
    MPI_Request request;
    int done = 0;

    aspx_real.MPI_Iallgather(MPI_IN_PLACE, 0, MPI_BYTE, offers, sizeof(*offers),
                             MPI_BYTE, MPI_COMM_WORLD, &request);
    for (;;) {
        aspx_real.MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (done)
            return 0;
        if (now_s() > end)
            return -1;
        answer_roll_call(roll);
        sched_yield();
    }
}

int aspx_join(const struct aspx_world *world, struct aspx_offer *offers,
              struct asp_err *err)
{
    const struct asp_layout *layout = world->layout;
    struct roll roll = {.first_asker = world->size_all};
    size_t size = (size_t) world->size_all, bytes = size * sizeof(*offers);
    struct aspx_offer *mine = &offers[world->rank_all], *copy = malloc(bytes);
    int rc = 0;

    roll.here = calloc(size, sizeof(*roll.here));
    if (!copy || !roll.here) {
        free(copy);
        free(roll.here);
        return asp_errf(err, ENOMEM, "no memory for %zu ranks", size);
    }
    mine->version = OFFER_VERSION;
    memcpy(mine->job, layout->job, sizeof(mine->job));
    memcpy(copy, offers, bytes);
    if (exchange(world, copy, &roll) == 0) {
        memcpy(offers, copy, bytes);
        free(copy);
    } else {
        rc = give_up(world, &roll, err);
    }
    for (int r = 0; rc == 0 && r < world->size_all; r++)
        if (offers[r].version != OFFER_VERSION ||
            strncmp(offers[r].job, layout->job, sizeof(layout->job)) != 0)
            rc = asp_errf(err, EPROTO,
                          "rank %d runs another version of "
                          "Aspen or another job (%.40s)",
                          r, offers[r].job);
    free(roll.here);
    return rc;
}
