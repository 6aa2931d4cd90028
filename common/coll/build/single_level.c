/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows for which all ranks are alike, wherever they are; those with counts are
 * in v_variants.c. */
#include "common/coll/build/algorithms.h"
#include "common/coll/build/rows.h"

static const struct asp_coll_tree binomial = {.shape = ASP_COLL_KNOMIAL,
                                              .k = 2};

static struct asp_coll_place out(void)
{
    return asp_coll_at(ASP_COLL_OUT, 0);
}

void asp_coll_barrier_dissemination(struct asp_coll_maker *m)
{
    struct asp_coll_group all = asp_coll_all(m);

    asp_coll_add_dissemination(m, &all, m->config->tree.k);
}

void asp_coll_barrier_tree(struct asp_coll_maker *m)
{
    struct asp_coll_group all = asp_coll_all(m);

    asp_coll_add_arrive(m, &all, &m->config->tree);
    asp_coll_next_phase(m);
    asp_coll_add_release(m, &all, &m->config->tree);
}

void asp_coll_bcast_tree(struct asp_coll_maker *m)
{
    struct asp_coll_group all = asp_coll_all(m);

    asp_coll_add_bcast(m, &all, m->problem->root, &m->config->tree, out(),
                       m->problem->bytes);
}

/* By scatter and a ring or, with a radix, an exchange. */
void asp_coll_bcast_spread(struct asp_coll_maker *m)
{
    struct asp_coll_group all = asp_coll_all(m);

    asp_coll_add_spread(m, &all, m->problem->root, m->config->tree.k, out(),
                        m->problem->bytes);
}

/* The contribution to an operation in which only the root may say in_place. */
static struct asp_coll_place rooted_input(const struct asp_coll_maker *m)
{
    if (m->rank == m->problem->root)
        return asp_coll_input(m);
    return asp_coll_at(ASP_COLL_IN, 0);
}

void asp_coll_reduce_tree(struct asp_coll_maker *m)
{
    struct asp_coll_group all = asp_coll_all(m);

    asp_coll_add_reduce(m, &all, m->problem->root, &m->config->tree,
                        rooted_input(m), out(), m->problem->bytes);
}

/* Each rank reduces a share, and the root gathers them. */
void asp_coll_reduce_shares(struct asp_coll_maker *m)
{
    const struct asp_coll_problem *p = m->problem;
    struct asp_coll_group all = asp_coll_all(m);
    struct asp_coll_blocks b = {out(), asp_coll_shares(m, p->ranks, p->bytes)};
    struct asp_coll_place own;

    if (!b.at)
        return;
    own = asp_coll_scratch(m->s, asp_coll_span(&b, m->rank, m->rank + 1));
    asp_coll_add_rs_halving(m, &all, rooted_input(m), b.at, own);
    asp_coll_stage(m, 1);
    asp_coll_add_gather(m, &all, p->root, &binomial, &b, false, own);
}

void asp_coll_scatter_tree(struct asp_coll_maker *m)
{
    const struct asp_coll_problem *p = m->problem;
    struct asp_coll_group all = asp_coll_all(m);
    struct asp_coll_blocks b = {asp_coll_at(ASP_COLL_IN, 0),
                                asp_coll_offsets(m)};
    struct asp_coll_place own = out();

    if (!b.at)
        return;
    if (m->rank == p->root && p->in_place)
        own = asp_coll_block(&b, m->rank);
    asp_coll_add_scatter(m, &all, p->root, &m->config->tree, &b, false, own);
}

void asp_coll_gather_tree(struct asp_coll_maker *m)
{
    const struct asp_coll_problem *p = m->problem;
    struct asp_coll_group all = asp_coll_all(m);
    struct asp_coll_blocks b = {out(), asp_coll_offsets(m)};
    struct asp_coll_place own = asp_coll_at(ASP_COLL_IN, 0);

    if (!b.at)
        return;
    if (m->rank == p->root && p->in_place)
        own = asp_coll_block(&b, m->rank);
    asp_coll_add_gather(m, &all, p->root, &m->config->tree, &b, false, own);
}

/* Alltoall in place: all but the own block is copied first. */
static struct asp_coll_place alltoall_input(struct asp_coll_maker *m)
{
    const struct asp_coll_problem *p = m->problem;
    size_t before = m->rank * p->bytes, own = p->bytes;
    struct asp_coll_place from = asp_coll_at(ASP_COLL_IN, 0);

    if (!p->in_place) {
        asp_coll_copy(m->s, asp_coll_past(from, before),
                      asp_coll_past(out(), before), own);
        return from;
    }
    from = asp_coll_scratch(m->s, p->ranks * own);
    asp_coll_copy(m->s, out(), from, before);
    asp_coll_copy(m->s, asp_coll_past(out(), before + own),
                  asp_coll_past(from, before + own),
                  (p->ranks - m->rank - 1) * own);
    return from;
}

void asp_coll_alltoall_flat(struct asp_coll_maker *m)
{
    struct asp_coll_group all = asp_coll_all(m);
    const size_t *at = asp_coll_offsets(m);
    struct asp_coll_blocks from = {alltoall_input(m), at}, to = {out(), at};

    if (at)
        asp_coll_add_pairs(m, &all, &from, &to);
}

void asp_coll_alltoall_bruck(struct asp_coll_maker *m)
{
    struct asp_coll_group all = asp_coll_all(m);

    asp_coll_add_bruck(m, &all, m->config->tree.k, alltoall_input(m), out(),
                       m->problem->bytes);
}

void asp_coll_allreduce_tree(struct asp_coll_maker *m)
{
    struct asp_coll_group all = asp_coll_all(m);
    size_t bytes = m->problem->bytes;

    asp_coll_add_reduce(m, &all, 0, &m->config->tree, asp_coll_input(m), out(),
                        bytes);
    asp_coll_stage(m, 1);
    asp_coll_add_bcast(m, &all, 0, &m->config->tree, out(), bytes);
}

void asp_coll_allreduce_exchange(struct asp_coll_maker *m)
{
    struct asp_coll_group all = asp_coll_all(m);

    asp_coll_add_allreduce_exchange(m, &all, m->config->tree.k,
                                    asp_coll_input(m), out(),
                                    m->problem->bytes);
}

void asp_coll_allreduce_halving(struct asp_coll_maker *m)
{
    struct asp_coll_group all = asp_coll_all(m);

    asp_coll_add_halving(m, &all, asp_coll_input(m), out(), m->problem->bytes);
}

void asp_coll_allreduce_ring(struct asp_coll_maker *m)
{
    struct asp_coll_group all = asp_coll_all(m);

    asp_coll_add_allreduce_ring(m, &all, asp_coll_input(m), out(),
                                m->problem->bytes);
}

void asp_coll_rs_pairs(struct asp_coll_maker *m)
{
    struct asp_coll_group all = asp_coll_all(m);
    const size_t *at = asp_coll_offsets(m);

    if (at)
        asp_coll_add_rs_pairs(m, &all, asp_coll_input(m), at, out());
}

void asp_coll_rs_ring(struct asp_coll_maker *m)
{
    struct asp_coll_group all = asp_coll_all(m);
    const size_t *at = asp_coll_offsets(m);

    if (at)
        asp_coll_add_rs_ring(m, &all, asp_coll_input(m), at, out());
}

void asp_coll_rs_halving(struct asp_coll_maker *m)
{
    struct asp_coll_group all = asp_coll_all(m);
    const size_t *at = asp_coll_offsets(m);

    if (at)
        asp_coll_add_rs_halving(m, &all, asp_coll_input(m), at, out());
}

void asp_coll_rs_exchange(struct asp_coll_maker *m)
{
    struct asp_coll_group all = asp_coll_all(m);
    const size_t *at = asp_coll_offsets(m);

    if (at)
        asp_coll_add_rs_exchange(m, &all, m->config->tree.k, asp_coll_input(m),
                                 at, out());
}

/* Down a tree to rank 0, and back as blocks. */
void asp_coll_rs_tree(struct asp_coll_maker *m)
{
    struct asp_coll_group all = asp_coll_all(m);
    const size_t *at = asp_coll_offsets(m);
    struct asp_coll_blocks b = {out(), at};

    if (!at)
        return;
    if (!m->rank)
        b.base = asp_coll_scratch(m->s, at[all.n]);
    asp_coll_add_reduce(m, &all, 0, &m->config->tree, asp_coll_input(m), b.base,
                        at[all.n]);
    asp_coll_stage(m, 1);
    asp_coll_add_scatter(m, &all, 0, &m->config->tree, &b, false, out());
}

static bool is_exclusive(const struct asp_coll_maker *m)
{
    return asp_coll_forms[m->problem->op].prefix == ASP_COLL_EXCLUSIVE;
}

void asp_coll_scan_exchange(struct asp_coll_maker *m)
{
    struct asp_coll_group all = asp_coll_all(m);

    asp_coll_add_scan(m, &all, asp_coll_input(m), out(), m->problem->bytes,
                      is_exclusive(m));
}

void asp_coll_scan_chain(struct asp_coll_maker *m)
{
    struct asp_coll_group all = asp_coll_all(m);

    asp_coll_add_chain_scan(m, &all, asp_coll_input(m), out(),
                            m->problem->bytes, is_exclusive(m));
}
