/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows "levels" of operations whose result goes to all. */
#include "common/coll/build/algorithms.h"
#include "common/coll/build/levels.h"
#include "common/coll/build/rows.h"

static struct asp_coll_place out(size_t offset)
{
    return asp_coll_at(ASP_COLL_OUT, offset);
}

/* A vector, or the part of it that leaders of one number have, in place. */
static void reduce_across(struct asp_coll_maker *m,
                          const struct asp_coll_group *g,
                          struct asp_coll_place at, size_t bytes)
{
    switch (m->config->across) {
    case ASP_COLL_ACROSS_TREE:
        asp_coll_add_reduce(m, g, 0, &m->config->tree, at, at, bytes);
        asp_coll_next_phase(m);
        asp_coll_add_bcast(m, g, 0, &m->config->tree, at, bytes);
        break;
    case ASP_COLL_ACROSS_EXCHANGE:
        asp_coll_add_allreduce_exchange(m, g, m->config->tree.k, at, at, bytes);
        break;
    case ASP_COLL_ACROSS_RING:
        asp_coll_add_allreduce_ring(m, g, at, at, bytes);
        break;
    case ASP_COLL_ACROSS_HALVING:
        asp_coll_add_halving(m, g, at, at, bytes);
        break;
    case ASP_COLL_ACROSS_FLAT:
    case ASP_COLL_ACROSSES:
        break;
    }
}

void asp_coll_allreduce_levels(struct asp_coll_maker *m)
{
    struct asp_coll_group local = asp_coll_local(m), leaders;
    struct asp_coll_tree inner = asp_coll_inner(m);
    uint32_t parts = m->config->leaders;
    const size_t *at = asp_coll_shares(m, parts, m->problem->bytes);
    bool leads;

    if (!at)
        return;
    for (uint32_t i = 0; i < parts; i++) {
        asp_coll_stage(m, i);
        asp_coll_add_reduce(m, &local, i, &inner,
                            asp_coll_past(asp_coll_input(m), at[i]), out(at[i]),
                            at[i + 1] - at[i]);
    }
    asp_coll_stage(m, parts);
    if (local.me < parts &&
        asp_coll_leaders(m, local.me, ASP_COLL_NOBODY, &leaders, &leads))
        reduce_across(m, &leaders, out(at[local.me]),
                      at[local.me + 1] - at[local.me]);
    for (uint32_t i = 0; i < parts; i++) {
        asp_coll_stage(m, parts + 1 + i);
        asp_coll_add_bcast(m, &local, i, &inner, out(at[i]), at[i + 1] - at[i]);
    }
}

/* Where the blocks of allgather(v) are in OUT. */
static const size_t *places_of(struct asp_coll_maker *m)
{
    const struct asp_coll_problem *p = m->problem;

    return asp_coll_has_counts(p->op) && p->displs ? p->displs
                                                   : asp_coll_offsets(m);
}

void asp_coll_allgather_levels(struct asp_coll_maker *m)
{
    const struct asp_coll_problem *p = m->problem;
    struct asp_coll_group local = asp_coll_local(m), leaders;
    struct asp_coll_tree inner = asp_coll_inner(m);
    const size_t *places = places_of(m);
    const size_t *at = asp_coll_by_node(m);
    const size_t *of = at ? asp_coll_of_nodes(m, at) : NULL;
    bool moved = !m->nodes->blocks || places == p->displs, leads;
    struct asp_coll_blocks nodes, blocks;
    struct asp_coll_place own = asp_coll_at(ASP_COLL_IN, 0);

    if (!places || !of ||
        !asp_coll_leaders(m, 0, ASP_COLL_NOBODY, &leaders, &leads))
        return;
    nodes = (struct asp_coll_blocks){out(0), of};
    if (moved)
        nodes.base = asp_coll_scratch(m->s, at[p->ranks]);
    blocks = (struct asp_coll_blocks){nodes.base,
                                      at + m->nodes->first[leaders.me]};
    if (p->in_place)
        own = out(places[m->rank]);
    asp_coll_add_gather(m, &local, 0, &inner, &blocks, true, own);
    asp_coll_stage(m, 1);
    if (leads && m->config->across == ASP_COLL_ACROSS_RING)
        asp_coll_add_ring(m, &leaders, &nodes);
    else if (leads)
        asp_coll_add_any(m, &leaders, &nodes, m->config->tree.k);
    asp_coll_stage(m, 2);
    asp_coll_add_bcast(m, &local, 0, &inner, nodes.base, at[p->ranks]);
    if (moved)
        asp_coll_reorder(m, out(0), places, nodes.base, at, false,
                         p->in_place ? (int64_t) m->rank : ASP_COLL_NOBODY);
}

/* The whole vector to the leader, its parts across, the blocks back. */
void asp_coll_rs_levels(struct asp_coll_maker *m)
{
    const struct asp_coll_problem *p = m->problem;
    const size_t *by_rank = asp_coll_offsets(m);
    const size_t *at = asp_coll_by_node(m);
    const size_t *of = at ? asp_coll_of_nodes(m, at) : NULL;
    struct asp_coll_group local = asp_coll_local(m), leaders;
    struct asp_coll_tree inner = asp_coll_inner(m);
    struct asp_coll_place whole = out(0), sorted;
    struct asp_coll_blocks blocks;
    bool leads;

    if (!by_rank || !of ||
        !asp_coll_leaders(m, 0, ASP_COLL_NOBODY, &leaders, &leads))
        return;
    blocks = (struct asp_coll_blocks){out(0), at + m->nodes->first[leaders.me]};
    if (leads)
        whole = asp_coll_scratch(m->s, at[p->ranks]);
    asp_coll_add_reduce(m, &local, 0, &inner, asp_coll_input(m), whole,
                        at[p->ranks]);
    asp_coll_stage(m, 1);
    sorted = whole;
    if (leads && !m->nodes->blocks) {
        sorted = asp_coll_scratch(m->s, at[p->ranks]);
        asp_coll_reorder(m, whole, by_rank, sorted, at, true, ASP_COLL_NOBODY);
    }
    if (leads) {
        blocks.base = asp_coll_scratch(m->s,
                                       of[leaders.me + 1] - of[leaders.me]);
        if (m->config->across == ASP_COLL_ACROSS_HALVING)
            asp_coll_add_rs_halving(m, &leaders, sorted, of, blocks.base);
        else if (m->config->across == ASP_COLL_ACROSS_RING)
            asp_coll_add_rs_ring(m, &leaders, sorted, of, blocks.base);
        else
            asp_coll_add_rs_pairs(m, &leaders, sorted, of, blocks.base);
        blocks.base.offset -= of[leaders.me];
    }
    asp_coll_stage(m, 2);
    asp_coll_add_scatter(m, &local, 0, &inner, &blocks, false, out(0));
}

/* The last rank of each node knows what its ranks have together; the nodes
 * before it are reduced to the left of what a rank has. */
void asp_coll_scan_levels(struct asp_coll_maker *m)
{
    const struct asp_coll_problem *p = m->problem;
    bool exclusive = asp_coll_forms[p->op].prefix == ASP_COLL_EXCLUSIVE;
    bool last, leads;
    struct asp_coll_group local = asp_coll_local(m), leaders;
    struct asp_coll_tree inner = asp_coll_inner(m);
    struct asp_coll_place total = out(0), before;

    if (!asp_coll_leaders(m, ASP_COLL_LAST, ASP_COLL_NOBODY, &leaders, &leads))
        return;
    last = local.me + 1 == local.n && leaders.me + 1 < leaders.n;
    if (last && exclusive) {
        total = asp_coll_scratch(m->s, p->bytes);
        asp_coll_copy(m->s, asp_coll_input(m), total, p->bytes);
    }
    asp_coll_add_scan(m, &local, asp_coll_input(m), out(0), p->bytes,
                      exclusive);
    if (last && exclusive && local.me)
        asp_coll_reduce_local(m->s, out(0), total, p->bytes);
    asp_coll_stage(m, 1);
    before = asp_coll_scratch(m->s, p->bytes);
    if (leads)
        asp_coll_add_scan(m, &leaders, total, before, p->bytes, true);
    asp_coll_stage(m, 2);
    if (!leaders.me)
        return;
    asp_coll_add_bcast(m, &local, local.n - 1, &inner, before, p->bytes);
    if (exclusive && !local.me)
        asp_coll_copy(m->s, before, out(0), p->bytes);
    else
        asp_coll_reduce_local(m->s, before, out(0), p->bytes);
}
