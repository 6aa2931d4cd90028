/* SPDX-License-Identifier: BSD-3-Clause */
/* Alltoallv: each pair of ranks for itself, as a rank knows but the counts of
 * its own messages; so what differs is how many are under way. Distances rise
 * alike on all ranks: what is sent over the least one that is left has both its
 * ends begun, so no window is too small. */
#include "common/coll/build/rows.h"

/* One side: block i is counts[i] from place + its offset. */
struct side {
    struct asp_coll_place place;
    const size_t *counts, *displs, *dense;
};

static struct asp_coll_place block(const struct side *side, uint32_t i)
{
    return asp_coll_past(side->place,
                         side->displs ? side->displs[i] : side->dense[i]);
}

/* In place, what is sent is copied aside first: it is received over. */
static bool find_sides(struct asp_coll_maker *m, struct side *from,
                       struct side *to)
{
    const struct asp_coll_problem *p = m->problem;
    const size_t *counts = p->in_place ? p->recv_counts : p->counts;

    *to = (struct side){asp_coll_at(ASP_COLL_OUT, 0), p->recv_counts,
                        p->recv_displs,
                        asp_coll_counted(m, p->ranks, p->recv_counts)};
    *from = (struct side){asp_coll_at(ASP_COLL_IN, 0), counts, p->displs,
                          asp_coll_counted(m, p->ranks, counts)};
    if (!to->dense || !from->dense)
        return false;
    if (!p->in_place)
        return true;
    from->place = asp_coll_scratch(m->s, from->dense[p->ranks]);
    from->displs = NULL;
    for (uint32_t i = 0; i < p->ranks; i++)
        if (i != m->rank)
            asp_coll_copy(m->s, block(to, i), block(from, i), counts[i]);
    return true;
}

/* Steps so far of one direction, by distance: their index, and one more. */
struct window {
    uint32_t *steps, k;
};

/* Was a step added? Then behind the one to or from the rank k before. */
static void queue(struct asp_coll_maker *m, struct window *w, uint32_t distance,
                  uint32_t before)
{
    if (m->s->nsteps == before)
        return;
    w->steps[distance] = m->s->nsteps;
    if (distance > w->k && w->steps[distance - w->k])
        asp_coll_behind(m->s, w->steps[distance - w->k] - 1);
}

/* With k ranks at a time, in each direction. */
static void exchange(struct asp_coll_maker *m, uint32_t k)
{
    uint32_t n = m->problem->ranks, before;
    struct window out = {asp_coll_keep(m, n, sizeof(*out.steps)), k};
    struct window in = {asp_coll_keep(m, n, sizeof(*in.steps)), k};
    struct side from, to;

    if (!out.steps || !in.steps || !find_sides(m, &from, &to))
        return;
    if (!m->problem->in_place)
        asp_coll_copy(m->s, block(&from, m->rank), block(&to, m->rank),
                      from.counts[m->rank]);
    for (uint32_t i = 1; i < n; i++) {
        uint32_t next = (m->rank + i) % n, last = (m->rank + n - i) % n;

        before = m->s->nsteps;
        asp_coll_recv(m->s, last, 0, block(&to, last), to.counts[last]);
        queue(m, &in, i, before);
        before = m->s->nsteps;
        asp_coll_send(m->s, next, 0, block(&from, next), from.counts[next]);
        queue(m, &out, i, before);
    }
}

void asp_coll_alltoallv_flat(struct asp_coll_maker *m)
{
    exchange(m, m->problem->ranks);
}

void asp_coll_alltoallv_pairwise(struct asp_coll_maker *m)
{
    exchange(m, 1);
}

void asp_coll_alltoallv_spread(struct asp_coll_maker *m)
{
    exchange(m, m->config->tree.k);
}
