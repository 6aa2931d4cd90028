/* SPDX-License-Identifier: BSD-3-Clause */
/* Alltoall by leaders: each has the blocks of its node, and sends each other
 * node one message with all that goes there. */
#include "common/coll/build/algorithms.h"
#include "common/coll/build/levels.h"
#include "common/coll/build/rows.h"

/* A leader's work. */
struct work {
    struct asp_coll_maker *m;
    const struct asp_coll_nodes *nodes;
    struct asp_coll_group local, leaders;
    size_t bytes;                      /* of a block */
    size_t kept;                       /* in place: of the leader's own block */
    struct asp_coll_place *have;       /* by local rank: its input */
    struct asp_coll_blocks sent, came; /* by node */
};

static uint32_t size_of(const struct work *w, uint32_t node)
{
    return w->nodes->first[node + 1] - w->nodes->first[node];
}

static bool prepare(struct work *w)
{
    uint32_t n = w->nodes->n;
    size_t *at = asp_coll_keep(w->m, n + 1, sizeof(*at));

    w->have = asp_coll_keep(w->m, w->local.n, sizeof(*w->have));
    for (uint32_t j = 0; at && j < n; j++)
        at[j + 1] = at[j] + w->bytes * w->local.n * size_of(w, j);
    if (!at || !w->have)
        return false;
    w->sent = (struct asp_coll_blocks){asp_coll_scratch(w->m->s, at[n]), at};
    w->came = (struct asp_coll_blocks){asp_coll_scratch(w->m->s, at[n]), at};
    return true;
}

/* The inputs of the node's ranks, in their order of ranks. */
static void collect(struct work *w)
{
    size_t all = w->bytes * w->m->problem->ranks;

    w->have[0] = asp_coll_input(w->m);
    for (uint32_t l = 1; l < w->local.n; l++) {
        w->have[l] = asp_coll_scratch(w->m->s, all);
        asp_coll_recv(w->m->s, w->local.ranks[l], w->m->round, w->have[l], all);
    }
}

/* By node, by sender, by receiver. The leader's own block would be the first of
 * its node. */
static void pack_node(const struct work *w, uint32_t node)
{
    const uint32_t *to = w->nodes->members + w->nodes->first[node];
    uint32_t n = size_of(w, node), end;
    uint32_t first = node == w->leaders.me && w->kept;
    struct asp_coll_place place = asp_coll_block(&w->sent, node);

    place = asp_coll_past(place, first * w->bytes);
    for (uint32_t l = 0; l < w->local.n; l++, first = 0)
        for (uint32_t i = first; i < n; i = end) {
            size_t bytes;

            for (end = i + 1; end < n && to[end] == to[end - 1] + 1;)
                end++;
            bytes = (end - i) * w->bytes;
            asp_coll_copy(w->m->s, asp_coll_past(w->have[l], to[i] * w->bytes),
                          place, bytes);
            place = asp_coll_past(place, bytes);
        }
}

/* What came for local rank l, in the order of ranks. */
static void unpack(const struct work *w, uint32_t l, struct asp_coll_place to)
{
    for (uint32_t node = 0; node < w->nodes->n; node++)
        for (uint32_t i = 0; i < size_of(w, node); i++) {
            uint32_t from = w->nodes->members[w->nodes->first[node] + i];
            size_t block = (size_t) i * w->local.n + l;

            if (w->kept && from == w->local.ranks[0] && !l)
                continue;
            asp_coll_copy(
                w->m->s,
                asp_coll_past(asp_coll_block(&w->came, node), block * w->bytes),
                asp_coll_past(to, from * w->bytes), w->bytes);
        }
}

static void lead(struct work *w)
{
    struct asp_coll_maker *m = w->m;
    size_t all = w->bytes * m->problem->ranks;
    struct asp_coll_place to = asp_coll_at(ASP_COLL_OUT, 0);

    if (!prepare(w))
        return;
    collect(w);
    for (uint32_t node = 0; node < w->nodes->n; node++)
        pack_node(w, node);
    asp_coll_copy(
        m->s, asp_coll_past(asp_coll_block(&w->sent, w->leaders.me), w->kept),
        asp_coll_past(asp_coll_block(&w->came, w->leaders.me), w->kept),
        asp_coll_span(&w->sent, w->leaders.me, w->leaders.me + 1) - w->kept);
    asp_coll_stage(m, 1);
    if (m->config->across == ASP_COLL_ACROSS_EXCHANGE)
        asp_coll_add_bruck(m, &w->leaders, m->config->tree.k, w->sent.base,
                           w->came.base, asp_coll_span(&w->sent, 0, 1));
    else
        asp_coll_add_pairs(m, &w->leaders, &w->sent, &w->came);
    asp_coll_stage(m, 2);
    for (uint32_t l = 0; l < w->local.n; l++) {
        if (l)
            to = asp_coll_scratch(m->s, all);
        unpack(w, l, to);
        if (l)
            asp_coll_send(m->s, w->local.ranks[l], m->round, to, all);
    }
}

void asp_coll_alltoall_levels(struct asp_coll_maker *m)
{
    struct work w = {.m = m,
                     .nodes = m->nodes,
                     .local = asp_coll_local(m),
                     .bytes = m->problem->bytes,
                     .kept = m->problem->in_place ? m->problem->bytes : 0};
    size_t all = w.bytes * m->problem->ranks;
    uint32_t leader = w.local.ranks[0];
    bool leads;

    if (!asp_coll_leaders(m, 0, ASP_COLL_NOBODY, &w.leaders, &leads))
        return;
    if (leads) {
        lead(&w);
        return;
    }
    asp_coll_send(m->s, leader, m->round, asp_coll_input(m), all);
    asp_coll_stage(m, 2);
    asp_coll_recv(m->s, leader, m->round, asp_coll_at(ASP_COLL_OUT, 0), all);
}
