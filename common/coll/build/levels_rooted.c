/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows "levels" of operations with a root, which is the leader of its node; and
 * of the barrier. */
#include "common/coll/build/algorithms.h"
#include "common/coll/build/levels.h"
#include "common/coll/build/rows.h"

static const struct asp_coll_tree binomial = {.shape = ASP_COLL_KNOMIAL,
                                              .k = 2};

static struct asp_coll_place out(void)
{
    return asp_coll_at(ASP_COLL_OUT, 0);
}

/* Index of the leader in this rank's node. */
static uint32_t head(const struct asp_coll_maker *m)
{
    uint32_t root = m->problem->root;

    if (asp_coll_node_of(m, m->rank) != asp_coll_node_of(m, root))
        return 0;
    return asp_coll_local_index(m, root);
}

void asp_coll_barrier_levels(struct asp_coll_maker *m)
{
    struct asp_coll_group local = asp_coll_local(m), leaders;
    struct asp_coll_tree inner = asp_coll_inner(m);
    bool leads;

    if (!asp_coll_leaders(m, 0, ASP_COLL_NOBODY, &leaders, &leads))
        return;
    asp_coll_add_arrive(m, &local, &inner);
    asp_coll_stage(m, 1);
    if (leads && m->config->across == ASP_COLL_ACROSS_TREE) {
        asp_coll_add_arrive(m, &leaders, &m->config->tree);
        asp_coll_next_phase(m);
        asp_coll_add_release(m, &leaders, &m->config->tree);
    } else if (leads) {
        asp_coll_add_dissemination(m, &leaders, m->config->tree.k);
    }
    asp_coll_stage(m, 2);
    asp_coll_add_release(m, &local, &inner);
}

void asp_coll_bcast_levels(struct asp_coll_maker *m)
{
    const struct asp_coll_problem *p = m->problem;
    struct asp_coll_group local = asp_coll_local(m), leaders;
    struct asp_coll_tree inner = asp_coll_inner(m);
    uint32_t root = asp_coll_node_of(m, p->root);
    bool leads;

    if (!asp_coll_leaders(m, 0, p->root, &leaders, &leads))
        return;
    if (leads && m->config->across == ASP_COLL_ACROSS_TREE)
        asp_coll_add_bcast(m, &leaders, root, &m->config->tree, out(),
                           p->bytes);
    else if (leads)
        asp_coll_add_spread(m, &leaders, root, m->config->tree.k, out(),
                            p->bytes);
    asp_coll_stage(m, 1);
    asp_coll_add_bcast(m, &local, head(m), &inner, out(), p->bytes);
}

/* Among the leaders: shares are reduced, and gathered by the root. */
static void reduce_shares(struct asp_coll_maker *m,
                          const struct asp_coll_group *g, uint32_t root,
                          struct asp_coll_place own, struct asp_coll_place into,
                          size_t bytes)
{
    struct asp_coll_blocks b = {into, asp_coll_shares(m, g->n, bytes)};
    struct asp_coll_place share;

    if (!b.at)
        return;
    share = asp_coll_scratch(m->s, asp_coll_span(&b, g->me, g->me + 1));
    asp_coll_add_rs_halving(m, g, own, b.at, share);
    asp_coll_stage(m, 2);
    asp_coll_add_gather(m, g, root, &binomial, &b, false, share);
}

/* With an order to keep, the first rank of each node leads, and that of node 0
 * hands over to the root. */
void asp_coll_reduce_levels(struct asp_coll_maker *m)
{
    const struct asp_coll_problem *p = m->problem;
    struct asp_coll_group local = asp_coll_local(m), leaders;
    struct asp_coll_tree inner = asp_coll_inner(m);
    uint32_t top = p->commutative ? p->root : 0;
    uint32_t node = asp_coll_node_of(m, top);
    bool is_root = m->rank == p->root, leads;
    struct asp_coll_place own, part, result = out();

    own = is_root ? asp_coll_input(m) : asp_coll_at(ASP_COLL_IN, 0);
    if (!asp_coll_leaders(m, 0, top, &leaders, &leads))
        return;
    if (m->rank == top && !is_root)
        result = asp_coll_scratch(m->s, p->bytes);
    part = m->rank == top || !leads ? result : asp_coll_scratch(m->s, p->bytes);
    asp_coll_add_reduce(m, &local, p->commutative ? head(m) : 0, &inner, own,
                        part, p->bytes);
    asp_coll_stage(m, 1);
    if (leads && m->config->across == ASP_COLL_ACROSS_TREE)
        asp_coll_add_reduce(m, &leaders, node, &m->config->tree, part, result,
                            p->bytes);
    else if (leads)
        reduce_shares(m, &leaders, node, part, result, p->bytes);
    asp_coll_stage(m, 3);
    if (top == p->root)
        return;
    if (m->rank == top)
        asp_coll_send(m->s, p->root, m->round, result, p->bytes);
    if (is_root)
        asp_coll_recv(m->s, top, m->round, out(), p->bytes);
}

/* Blocks in the order of nodes, at the root, and of this rank's node. */
struct sorted {
    const size_t *at, *of_nodes, *by_rank;
    struct asp_coll_blocks nodes, local;
    struct asp_coll_group leaders, group;
    struct asp_coll_tree inner;
    bool leads;
};

/* buffer: where the root has its blocks in the order of ranks. */
static bool sort_blocks(struct asp_coll_maker *m, enum asp_coll_buffer buffer,
                        struct sorted *s)
{
    const struct asp_coll_problem *p = m->problem;
    uint32_t node = asp_coll_node_of(m, m->rank);

    s->at = asp_coll_by_node(m);
    s->by_rank = asp_coll_offsets(m);
    s->of_nodes = s->at ? asp_coll_of_nodes(m, s->at) : NULL;
    if (!s->of_nodes || !s->by_rank ||
        !asp_coll_leaders(m, 0, p->root, &s->leaders, &s->leads))
        return false;
    s->group = asp_coll_local(m);
    s->inner = asp_coll_inner(m);
    s->nodes = (struct asp_coll_blocks){asp_coll_at(buffer, 0), s->of_nodes};
    if (m->rank == p->root && !m->nodes->blocks)
        s->nodes.base = asp_coll_scratch(m->s, s->at[p->ranks]);
    s->local = (struct asp_coll_blocks){s->nodes.base,
                                        s->at + m->nodes->first[node]};
    if (s->leads && m->rank != p->root) {
        s->local.base = asp_coll_scratch(m->s, s->of_nodes[node + 1] -
                                                   s->of_nodes[node]);
        s->local.base.offset -= s->of_nodes[node];
    }
    return true;
}

void asp_coll_scatter_levels(struct asp_coll_maker *m)
{
    const struct asp_coll_problem *p = m->problem;
    bool is_root = m->rank == p->root;
    struct asp_coll_place own = out();
    struct sorted s;

    if (!sort_blocks(m, ASP_COLL_IN, &s))
        return;
    if (is_root && !m->nodes->blocks)
        asp_coll_reorder(m, asp_coll_at(ASP_COLL_IN, 0), s.by_rank,
                         s.nodes.base, s.at, true,
                         p->in_place ? (int64_t) m->rank : ASP_COLL_NOBODY);
    if (s.leads)
        asp_coll_add_scatter(m, &s.leaders, asp_coll_node_of(m, p->root),
                             &m->config->tree, &s.nodes, false,
                             asp_coll_block(&s.local, 0));
    asp_coll_stage(m, 1);
    if (is_root && p->in_place)
        own = asp_coll_block(&s.local, s.group.me);
    asp_coll_add_scatter(m, &s.group, head(m), &s.inner, &s.local, false, own);
}

void asp_coll_gather_levels(struct asp_coll_maker *m)
{
    const struct asp_coll_problem *p = m->problem;
    bool is_root = m->rank == p->root, kept = is_root && p->in_place;
    struct asp_coll_place own = asp_coll_at(ASP_COLL_IN, 0);
    struct sorted s;

    if (!sort_blocks(m, ASP_COLL_OUT, &s))
        return;
    if (kept) /* not sent, and not sorted */
        own = asp_coll_block(&s.local, s.group.me);
    asp_coll_add_gather(m, &s.group, head(m), &s.inner, &s.local, false, own);
    asp_coll_stage(m, 1);
    if (s.leads)
        asp_coll_add_gather(m, &s.leaders, asp_coll_node_of(m, p->root),
                            &m->config->tree, &s.nodes, false,
                            asp_coll_block(&s.local, 0));
    if (is_root && !m->nodes->blocks)
        asp_coll_reorder(m, out(), s.by_rank, s.nodes.base, s.at, false,
                         kept ? (int64_t) m->rank : ASP_COLL_NOBODY);
}
