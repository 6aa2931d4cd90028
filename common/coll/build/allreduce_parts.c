/* SPDX-License-Identifier: BSD-3-Clause */
/* Allreduce of long vectors: each rank reduces a share of it, and all gather
 * the shares. By halving and doubling (Rabenseifner, see halving.c) or along a
 * ring (Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms", 2009).
 */
#include "common/coll/build/algorithms.h"
#include "common/coll/build/halving.h"
#include "common/coll/build/power_group.h"

static void halve_and_double(struct asp_coll_maker *m,
                             const struct asp_coll_group *g,
                             struct asp_coll_place own,
                             struct asp_coll_place into, size_t bytes)
{
    struct asp_coll_halving h = {m, g, asp_coll_shares(m, g->n, bytes), true};
    struct asp_coll_place place, result;
    uint32_t block;

    if (!h.at)
        return;
    block = asp_coll_halving_block(&h, g->me);
    place = asp_coll_past(into, h.at[block]);
    result = asp_coll_halving_down(&h, own, asp_coll_same(own, into), place);
    asp_coll_move(m, result, place, h.at[block + 1] - h.at[block]);
    asp_coll_next_phase(m);
    asp_coll_halving_up(&h, into);
}

void asp_coll_add_halving(struct asp_coll_maker *m,
                          const struct asp_coll_group *g,
                          struct asp_coll_place own, struct asp_coll_place into,
                          size_t bytes)
{
    struct asp_coll_power_group powers;
    uint32_t base = m->round, count = 1;

    while (count * 2 <= g->n)
        count *= 2;
    asp_coll_power_group_find(m, g, count, &powers);
    asp_coll_power_group_join(m, &powers, &own, into, bytes);
    m->round = base + ASP_COLL_PHASE;
    if (powers.is_member)
        halve_and_double(m, &powers.group, own, into, bytes);
    m->round = base + 3 * ASP_COLL_PHASE;
    asp_coll_power_group_tell(m, &powers, into, bytes);
}

void asp_coll_add_allreduce_ring(struct asp_coll_maker *m,
                                 const struct asp_coll_group *g,
                                 struct asp_coll_place own,
                                 struct asp_coll_place into, size_t bytes)
{
    struct asp_coll_blocks b = {into, asp_coll_shares(m, g->n, bytes)};

    if (!b.at)
        return;
    asp_coll_add_rs_ring(m, g, own, b.at, asp_coll_block(&b, g->me));
    asp_coll_next_phase(m);
    asp_coll_add_ring(m, g, &b);
}
