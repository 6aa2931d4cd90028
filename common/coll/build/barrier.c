/* SPDX-License-Identifier: BSD-3-Clause */
/* Barriers: messages of no bytes. Cell 0 is this rank's own arrival; each
 * signal that comes has the next cell, and one that is sent tells of all cells
 * so far. */
#include "common/coll/build/algorithms.h"

#include <errno.h>

/* Cells so far. */
static uint32_t cells(struct asp_coll_maker *m)
{
    if (!m->s->signals)
        asp_coll_signals(m->s, 1);
    return m->s->signals;
}

static void tell(struct asp_coll_maker *m, uint32_t rank, uint32_t round,
                 uint32_t ncells)
{
    asp_coll_send(m->s, rank, round, asp_coll_at(ASP_COLL_SIGNAL, 0), ncells);
}

static void hear(struct asp_coll_maker *m, uint32_t rank, uint32_t round)
{
    asp_coll_recv(m->s, rank, round, asp_coll_signals(m->s, 1), 1);
}

/* After round r a rank has heard, at first, second or third hand, of the
 * k^(r + 1) - 1 ranks before it. Source: Hensgen, Finkel and Manber, "Two
 * algorithms for barrier synchronization" (1988), with radix k as in Nishtala
 * (tree.h), section 7.1. */
void asp_coll_add_dissemination(struct asp_coll_maker *m,
                                const struct asp_coll_group *g, uint32_t k)
{
    uint32_t round = m->round;

    for (uint64_t distance = 1; distance < g->n; distance *= k) {
        uint32_t told = cells(m);

        for (uint64_t d = distance; d < g->n && d < k * distance;
             d += distance, round++) {
            uint32_t to = (uint32_t) ((g->me + d) % g->n);
            uint32_t from = (uint32_t) ((g->me + g->n - d) % g->n);

            tell(m, asp_coll_rank(g, to), round, told);
            hear(m, asp_coll_rank(g, from), round);
        }
    }
}

static bool find(struct asp_coll_maker *m, const struct asp_coll_group *g,
                 const struct asp_coll_tree *tree, struct asp_coll_node *node)
{
    if (asp_coll_tree_find(tree, g->n, g->me, node) == 0)
        return true;
    m->s->error = ENOMEM;
    return false;
}

void asp_coll_add_arrive(struct asp_coll_maker *m,
                         const struct asp_coll_group *g,
                         const struct asp_coll_tree *tree)
{
    struct asp_coll_node node = {0};

    cells(m);
    if (find(m, g, tree, &node)) {
        for (uint32_t c = node.nchildren; c-- > 0;)
            hear(m, asp_coll_rank(g, node.children[c].first), m->round);
        if (g->me)
            tell(m, asp_coll_rank(g, node.parent), m->round, cells(m));
    }
    asp_coll_node_destroy(&node);
}

void asp_coll_add_release(struct asp_coll_maker *m,
                          const struct asp_coll_group *g,
                          const struct asp_coll_tree *tree)
{
    struct asp_coll_node node = {0};

    if (find(m, g, tree, &node)) {
        if (g->me)
            hear(m, asp_coll_rank(g, node.parent), m->round);
        for (uint32_t c = 0; c < node.nchildren; c++)
            tell(m, asp_coll_rank(g, node.children[c].first), m->round,
                 cells(m));
    }
    asp_coll_node_destroy(&node);
}
