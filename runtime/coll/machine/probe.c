/* SPDX-License-Identifier: BSD-3-Clause */
/* The first rank of a pair gives orders, which are messages that begin with
 * what they ask for; the second one follows them. What is measured is what
 * carries out schedules: MPI_Isend, MPI_Irecv and polls. */
#include "config.h"

#include "probe.h"

#include "join.h"

#include "runtime/coll/call/call.h"
#include "runtime/base/clock.h"

#include "common/coll/model/fit.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    TAG = 1,
    SMALL = 16, /* bytes: an order */
    /* Bytes: above all limits of protocols, and what algorithms for large
     * messages send at once. */
    LARGE = 65536,
    BURST = 16,  /* small messages in a row: within what UCX takes at once */
    ROUNDS = 16, /* enough: the least of 256 round trips */
    PINGS = 16,  /* small ones in a round: where other programs want the
                    CPUs, too, the pair has them together for a while now
                    and then, which the first of them waits for */
    REPEATS = 2, /* of what else is in a round, for the same reason */
    CORE_ROUNDS = 8, /* of copying and reducing 64 KiB: some 10 us each */
};

enum what { PING, TAKE, GIVE, END };

struct order {
    uint32_t what, count, bytes, unused;
};
_Static_assert(sizeof(struct order) == SMALL, "an order is a small message");

/* One end of a pair. */
struct end {
    int partner;
    char *out, *in; /* LARGE bytes each */
    /* Of rounds in turn, that one can be held against the other. */
    struct asp_coll_samples half[2], *samples;
    double until; /* by now_ns() */
};

static double now_ns(void)
{
    return (double) aspx_clock_ns(CLOCK_MONOTONIC);
}

static void keep_least(double *least, double ns)
{
    if (ns > 0 && (*least == 0 || ns < *least))
        *least = ns;
}

/* ---- messages --------------------------------------------------------------- */

static void post(const struct end *end, uint32_t bytes, MPI_Request *request)
{
    aspx_coll_behind.MPI_Isend(end->out, (int) bytes, MPI_BYTE, end->partner,
                               TAG, MPI_COMM_WORLD, request);
}

static void expect(const struct end *end, MPI_Request *request)
{
    aspx_coll_behind.MPI_Irecv(end->in, LARGE, MPI_BYTE, end->partner, TAG,
                               MPI_COMM_WORLD, request);
}

static void give(const struct end *end, uint32_t bytes)
{
    MPI_Request request;

    post(end, bytes, &request);
    aspx_coll_wait(&request, ASPX_COLL_POLL);
}

static void take(const struct end *end, enum aspx_coll_patience patience)
{
    MPI_Request request;

    expect(end, &request);
    aspx_coll_wait(&request, patience);
}

static void write_order(const struct end *end, struct order order)
{
    memcpy(end->out, &order, sizeof(order));
}

/* `count` small messages at once. Returns how long the calls took that post
 * them. */
static double give_many(const struct end *end, uint32_t count)
{
    MPI_Request requests[BURST];
    double begun = now_ns(), took;

    for (uint32_t i = 0; i < count; i++)
        post(end, SMALL, &requests[i]);
    took = now_ns() - begun;
    for (uint32_t i = 0; i < count; i++)
        aspx_coll_wait(&requests[i], ASPX_COLL_POLL);
    return took;
}

/* ---- the second rank -------------------------------------------------------- */

static void serve(struct end *end)
{
    struct order order = {.what = PING};
    enum aspx_coll_patience patience = ASPX_COLL_NAP; /* until its turn comes */

    while (order.what != END) {
        take(end, patience);
        patience = ASPX_COLL_POLL;
        memcpy(&order, end->in, sizeof(order));
        if (order.what == PING) {
            give(end, order.bytes);
        } else if (order.what == TAKE) {
            for (uint32_t i = 1; i < order.count; i++)
                take(end, ASPX_COLL_POLL);
            give(end, SMALL);
        } else if (order.what == GIVE) {
            give_many(end, order.count);
        }
    }
}

/* ---- the first one ---------------------------------------------------------- */

static void ping(const struct end *end, uint32_t bytes, double *least)
{
    MPI_Request request;
    double begun;

    write_order(end, (struct order){.what = PING, .bytes = bytes});
    expect(end, &request);
    begun = now_ns();
    give(end, bytes);
    aspx_coll_wait(&request, ASPX_COLL_POLL);
    keep_least(least, now_ns() - begun);
}

/* Small messages in a row, and an answer to the last one. */
static void burst(struct end *end)
{
    struct asp_coll_samples *s = end->samples;
    MPI_Request request;
    double begun;

    write_order(end, (struct order){.what = TAKE, .count = BURST});
    expect(end, &request);
    begun = now_ns();
    keep_least(&s->send, give_many(end, BURST) / BURST);
    aspx_coll_wait(&request, ASPX_COLL_POLL);
    keep_least(&s->burst, (now_ns() - begun - s->round_small) / (BURST - 1));
}

/* Receives of messages that have come meanwhile. */
static void late(struct end *end)
{
    struct asp_coll_samples *s = end->samples;
    double begun;

    write_order(end, (struct order){.what = GIVE, .count = BURST});
    give(end, SMALL);
    begun = now_ns();
    while (now_ns() - begun < 2 * s->round_small + 2 * BURST * s->burst)
        continue;
    begun = now_ns();
    for (int i = 0; i < BURST; i++)
        take(end, ASPX_COLL_POLL);
    keep_least(&s->receive, (now_ns() - begun) / BURST);
}

/* Is the time over, and is there something to show for it? */
static bool is_enough(const struct end *end, double least)
{
    return least > 0 && now_ns() >= end->until;
}

static void one_round(struct end *end, int pings, int repeats)
{
    struct asp_coll_samples *s = end->samples;

    for (int i = 0; i < pings && !is_enough(end, s->round_small); i++)
        ping(end, SMALL, &s->round_small);
    for (int i = 0; i < repeats && !is_enough(end, s->round_large); i++)
        ping(end, LARGE, &s->round_large);
    for (int i = 0; i < repeats && !is_enough(end, s->burst); i++)
        burst(end);
    for (int i = 0; i < repeats && !is_enough(end, s->receive); i++)
        late(end);
}

static void measure(struct end *end, double budget_us, bool thorough)
{
    int rounds = 0;

    end->until = now_ns() + 1e3 * budget_us;
    end->samples = &end->half[0];
    one_round(end, 1, 1); /* makes connections */
    for (int i = 0; i < 2; i++)
        end->half[i] = (struct asp_coll_samples){.small = SMALL,
                                                 .large = LARGE};
    do {
        end->samples = &end->half[rounds++ % 2];
        one_round(end, PINGS, REPEATS);
    } while (now_ns() < end->until && (thorough || rounds < ROUNDS));
    write_order(end, (struct order){.what = END});
    give(end, SMALL);
}

/* ---- a core ----------------------------------------------------------------- */

static void measure_core(const struct end *end, struct asp_tune_core *core_p)
{
    double copy = 0, reduce = 0;

    for (int i = 0; i < CORE_ROUNDS; i++) {
        double begun = now_ns();

        memcpy(end->in, end->out, LARGE);
        keep_least(&copy, now_ns() - begun);
        begun = now_ns();
        aspx_coll_behind.MPI_Reduce_local(end->in, end->out,
                                          LARGE / (int) sizeof(double),
                                          MPI_DOUBLE, MPI_SUM);
        keep_least(&reduce, now_ns() - begun);
    }
    *core_p = (struct asp_tune_core){(int64_t) (1e3 * copy / LARGE),
                                     (int64_t) (1e3 * reduce / LARGE)};
}

/* ---- all -------------------------------------------------------------------- */

/* What rank 0 then has of a pair. */
static void probe_pair(const struct aspx_coll_pair *pair, struct end *end,
                       double budget_us, bool thorough)
{
    int rank = 0;
    MPI_Request request;

    aspx_coll_behind.MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    memset(end->half, 0, sizeof(end->half));
    if (rank == pair->second) {
        end->partner = pair->first;
        serve(end);
    } else if (rank == pair->first) {
        end->partner = pair->second;
        measure(end, budget_us, thorough);
    }
    if (pair->first <= 0)
        return; /* none, or it is rank 0 */
    if (rank == pair->first) {
        aspx_coll_behind.MPI_Isend(end->half, sizeof(end->half), MPI_BYTE, 0,
                                   TAG, MPI_COMM_WORLD, &request);
        aspx_coll_wait(&request, ASPX_COLL_NAP);
    } else if (rank == 0) {
        aspx_coll_behind.MPI_Irecv(end->half, sizeof(end->half), MPI_BYTE,
                                   pair->first, TAG, MPI_COMM_WORLD, &request);
        aspx_coll_wait(&request, ASPX_COLL_NAP);
    }
}

/* In rank 0. Returns false where there is nothing, or nothing to rely on. */
static bool fit(struct end *end, struct asp_coll_link *link_p)
{
    if (!asp_coll_samples_agree(&end->half[0], &end->half[1]))
        return false;
    asp_coll_samples_join(&end->half[0], &end->half[1]);
    return asp_coll_fit(&end->half[0], link_p) == 0;
}

static void share(struct asp_tune_links *links)
{
    MPI_Request request;

    aspx_coll_behind.MPI_Ibcast(links, sizeof(*links), MPI_BYTE, 0,
                                MPI_COMM_WORLD, &request);
    aspx_coll_wait(&request, ASPX_COLL_NAP);
}

static void probe(const struct aspx_coll_pairs *pairs, struct end *end,
                  double budget_us, bool thorough, struct asp_tune_links *links)
{
    probe_pair(&pairs->inside, end, budget_us, thorough);
    links->has_inside = fit(end, &links->inside);
    probe_pair(&pairs->between, end, budget_us, thorough);
    links->has_between = fit(end, &links->between);
    if (!aspx_coll_is_first())
        return;
    measure_core(end, &links->core);
    links->has_core = true;
}

void aspx_coll_probe(const struct aspx_coll_pairs *pairs, double budget_us,
                     bool thorough, struct asp_tune_links *links_p)
{
    bool both = pairs->inside.first >= 0 && pairs->between.first >= 0;
    /* Touched now: a page fault is no part of a link. */
    struct end end = {.out = calloc(2, LARGE)};

    memset(links_p, 0, sizeof(*links_p));
    if (!end.out)
        aspx_coll_give_up(); /* the others would wait */
    memset(end.out, 0, (size_t) 2 * LARGE);
    end.in = end.out + LARGE;
    probe(pairs, &end, both ? budget_us / 2 : budget_us, thorough, links_p);
    share(links_p);
    free(end.out);
}
