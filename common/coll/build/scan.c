/* SPDX-License-Identifier: BSD-3-Clause */
/* Prefix reductions. By doubling distances: Hillis and Steele, "Data parallel
 * algorithms" (1986). Along the chain of ranks, in segments, for long vectors.
 */
#include "common/coll/build/algorithms.h"

void asp_coll_add_scan(struct asp_coll_maker *m, const struct asp_coll_group *g,
                       struct asp_coll_place own, struct asp_coll_place into,
                       size_t bytes, bool exclusive)
{
    struct asp_coll_schedule *s = m->s;
    /* Of this rank and those before it: inclusive is the result itself. */
    struct asp_coll_place product = into, came;
    uint32_t round = m->round;

    if (exclusive)
        product = asp_coll_scratch(s, bytes);
    if (!exclusive || g->me + 1 < g->n)
        asp_coll_move(m, own, product, bytes);
    for (uint64_t distance = 1; distance < g->n; distance *= 2, round++) {
        bool first = exclusive && distance == 1;

        if (g->me + distance < g->n)
            asp_coll_send(s, asp_coll_rank(g, (uint32_t) (g->me + distance)),
                          round, product, bytes);
        if (g->me < distance)
            continue;
        came = first ? into : asp_coll_scratch(s, bytes);
        asp_coll_recv(s, asp_coll_rank(g, (uint32_t) (g->me - distance)), round,
                      came, bytes);
        if (exclusive && !first)
            asp_coll_reduce_local(s, came, into, bytes);
        if (!exclusive || g->me + 2 * distance < g->n)
            asp_coll_reduce_local(s, came, product, bytes);
    }
}

/* One segment. */
static void pass_on(struct asp_coll_maker *m, const struct asp_coll_group *g,
                    uint32_t round, struct asp_coll_place own,
                    struct asp_coll_place into, size_t bytes, bool exclusive)
{
    struct asp_coll_schedule *s = m->s;
    struct asp_coll_place sum = own, came;
    bool more = g->me + 1 < g->n;

    if (!exclusive) {
        asp_coll_move(m, own, into, bytes);
        sum = into;
    } else if (g->me && more) {
        sum = asp_coll_scratch(s, bytes);
        asp_coll_copy(s, own, sum, bytes);
    }
    if (g->me) {
        came = exclusive ? into : asp_coll_scratch(s, bytes);
        asp_coll_recv(s, asp_coll_rank(g, g->me - 1), round, came, bytes);
        if (!exclusive || more)
            asp_coll_reduce_local(s, came, sum, bytes);
    }
    if (more)
        asp_coll_send(s, asp_coll_rank(g, g->me + 1), round, sum, bytes);
}

void asp_coll_add_chain_scan(struct asp_coll_maker *m,
                             const struct asp_coll_group *g,
                             struct asp_coll_place own,
                             struct asp_coll_place into, size_t bytes,
                             bool exclusive)
{
    size_t segment = asp_coll_segment(m, bytes);
    uint32_t round = m->round;

    for (size_t done = 0; done < bytes; done += segment, round++)
        pass_on(m, g, round, asp_coll_past(own, done),
                asp_coll_past(into, done),
                bytes - done < segment ? bytes - done : segment, exclusive);
}
