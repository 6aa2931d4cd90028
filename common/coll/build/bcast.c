/* SPDX-License-Identifier: BSD-3-Clause */
/* Broadcast. Along a tree: Nishtala (tree.h), section 5.1. By scatter and
 * allgather: Barnett, Gupta, Payne, Shuler, van de Geijn and Watts,
 * "Interprocessor collective communication library" (1994). */
#include "common/coll/build/algorithms.h"

#include <errno.h>

/* The rank of a virtual rank. */
static uint32_t peer(const struct asp_coll_group *g, uint32_t root, uint32_t v)
{
    return asp_coll_rank(g, asp_coll_actual(v, root, g->n));
}

void asp_coll_add_bcast(struct asp_coll_maker *m,
                        const struct asp_coll_group *g, uint32_t root,
                        const struct asp_coll_tree *tree,
                        struct asp_coll_place at, size_t bytes)
{
    size_t segment = asp_coll_segment(m, bytes);
    uint32_t v = asp_coll_virtual(g->me, root, g->n), round = m->round;
    struct asp_coll_node node = {0};

    if (asp_coll_tree_find(tree, g->n, v, &node) < 0) {
        m->s->error = ENOMEM;
        asp_coll_node_destroy(&node);
        return;
    }
    for (size_t done = 0; done < bytes; done += segment, round++) {
        size_t part = bytes - done < segment ? bytes - done : segment;
        struct asp_coll_place place = asp_coll_past(at, done);

        if (v)
            asp_coll_recv(m->s, peer(g, root, node.parent), round, place, part);
        for (uint32_t c = 0; c < node.nchildren; c++)
            asp_coll_send(m->s, peer(g, root, node.children[c].first), round,
                          place, part);
    }
    asp_coll_node_destroy(&node);
}

void asp_coll_add_spread(struct asp_coll_maker *m,
                         const struct asp_coll_group *g, uint32_t root,
                         uint32_t k, struct asp_coll_place at, size_t bytes)
{
    const struct asp_coll_tree binomial = {.shape = ASP_COLL_KNOMIAL, .k = 2};
    struct asp_coll_blocks b = {at, asp_coll_shares(m, g->n, bytes)};
    uint32_t *ranks = asp_coll_keep(m, g->n, sizeof(*ranks));
    struct asp_coll_group turned = {g->n, asp_coll_virtual(g->me, root, g->n),
                                    ranks};

    if (!b.at || !ranks)
        return;
    for (uint32_t v = 0; v < g->n; v++)
        ranks[v] = peer(g, root, v);
    asp_coll_add_scatter(m, &turned, 0, &binomial, &b, true,
                         asp_coll_block(&b, turned.me));
    asp_coll_next_phase(m);
    if (k)
        asp_coll_add_any(m, &turned, &b, k);
    else
        asp_coll_add_ring(m, &turned, &b);
}
