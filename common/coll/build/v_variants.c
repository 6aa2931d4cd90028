/* SPDX-License-Identifier: BSD-3-Clause */
/* Allgather, and the operations whose blocks differ in size and may lie
 * anywhere. Algorithms want blocks one after the other: where they are not,
 * scratch memory has them so. */
#include "common/coll/build/algorithms.h"
#include "common/coll/build/rows.h"

static struct asp_coll_place out(size_t offset)
{
    return asp_coll_at(ASP_COLL_OUT, offset);
}

/* Where block i of a buffer is, and how long. */
static size_t at(const size_t *displs, const size_t *dense, uint32_t i)
{
    return displs ? displs[i] : dense[i];
}

/* Allgather(v) around one of its algorithms. */
struct all_blocks {
    struct asp_coll_blocks b;
    bool elsewhere; /* in scratch memory */
};

static bool begin(struct asp_coll_maker *m, struct all_blocks *all)
{
    const struct asp_coll_problem *p = m->problem;
    struct asp_coll_place own = asp_coll_at(ASP_COLL_IN, 0);

    all->elsewhere = asp_coll_has_counts(p->op) && p->displs;
    all->b.at = asp_coll_offsets(m);
    if (!all->b.at)
        return false;
    all->b.base = all->elsewhere ? asp_coll_scratch(m->s, all->b.at[p->ranks])
                                 : out(0);
    if (p->in_place)
        own = out(at(all->elsewhere ? p->displs : NULL, all->b.at, m->rank));
    asp_coll_move(m, own, asp_coll_block(&all->b, m->rank),
                  asp_coll_span(&all->b, m->rank, m->rank + 1));
    return true;
}

static void end(struct asp_coll_maker *m, const struct all_blocks *all)
{
    for (uint32_t i = 0; i < m->problem->ranks && all->elsewhere; i++)
        if (i != m->rank || !m->problem->in_place)
            asp_coll_copy(m->s, asp_coll_block(&all->b, i),
                          out(m->problem->displs[i]),
                          asp_coll_span(&all->b, i, i + 1));
}

void asp_coll_allgather_ring(struct asp_coll_maker *m)
{
    struct asp_coll_group g = asp_coll_all(m);
    struct all_blocks all;

    if (!begin(m, &all))
        return;
    asp_coll_add_ring(m, &g, &all.b);
    end(m, &all);
}

void asp_coll_allgather_exchange(struct asp_coll_maker *m)
{
    struct asp_coll_group g = asp_coll_all(m);
    struct all_blocks all;

    if (!begin(m, &all))
        return;
    asp_coll_add_exchange(m, &g, &all.b, m->config->tree.k);
    end(m, &all);
}

void asp_coll_allgather_dissemination(struct asp_coll_maker *m)
{
    struct asp_coll_group g = asp_coll_all(m);
    struct all_blocks all;

    if (!begin(m, &all))
        return;
    asp_coll_add_doubling(m, &g, &all.b, m->config->tree.k);
    end(m, &all);
}

/* To rank 0, and from there as one message. */
void asp_coll_allgather_tree(struct asp_coll_maker *m)
{
    struct asp_coll_group g = asp_coll_all(m);
    struct all_blocks all;

    if (!begin(m, &all))
        return;
    asp_coll_add_gather(m, &g, 0, &m->config->tree, &all.b, true,
                        asp_coll_block(&all.b, m->rank));
    asp_coll_stage(m, 1);
    asp_coll_add_bcast(m, &g, 0, &m->config->tree, all.b.base, all.b.at[g.n]);
    end(m, &all);
}

/* The root and each other rank by themselves: others know only their own count.
 */
void asp_coll_scatterv_flat(struct asp_coll_maker *m)
{
    const struct asp_coll_problem *p = m->problem;
    const size_t *dense;

    if (m->rank != p->root) {
        asp_coll_recv(m->s, p->root, 0, out(0), p->counts[m->rank]);
        return;
    }
    dense = asp_coll_counted(m, p->ranks, p->counts);
    for (uint32_t i = 0; i < p->ranks && dense; i++) {
        uint32_t r = (p->root + i) % p->ranks;
        struct asp_coll_place from = asp_coll_at(ASP_COLL_IN,
                                                 at(p->displs, dense, r));

        if (i)
            asp_coll_send(m->s, r, 0, from, p->counts[r]);
        else if (!p->in_place)
            asp_coll_copy(m->s, from, out(0), p->counts[r]);
    }
}

void asp_coll_gatherv_flat(struct asp_coll_maker *m)
{
    const struct asp_coll_problem *p = m->problem;
    struct asp_coll_place own = asp_coll_at(ASP_COLL_IN, 0);
    const size_t *dense;

    if (m->rank != p->root) {
        asp_coll_send(m->s, p->root, 0, own, p->counts[m->rank]);
        return;
    }
    dense = asp_coll_counted(m, p->ranks, p->counts);
    for (uint32_t i = 0; i < p->ranks && dense; i++) {
        uint32_t r = (p->root + i) % p->ranks;
        struct asp_coll_place to = out(at(p->displs, dense, r));

        if (i)
            asp_coll_recv(m->s, r, 0, to, p->counts[r]);
        else if (!p->in_place)
            asp_coll_copy(m->s, own, to, p->counts[r]);
    }
}
