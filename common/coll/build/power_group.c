/* SPDX-License-Identifier: BSD-3-Clause */
/* Members and their intervals. */
#include "common/coll/build/power_group.h"
#include "common/coll/build/algorithms.h"

static const struct asp_coll_tree flat = {.shape = ASP_COLL_KARY,
                                          .k = ASP_COLL_RANKS};

uint32_t asp_coll_power_group_count(uint32_t n, uint32_t k)
{
    uint64_t power = 1;

    if (asp_coll_smooth(n, k))
        return n;
    while (power * k <= n)
        power *= k;
    return (uint32_t) power;
}

/* The part that has thing i of n. */
static uint32_t part_of(uint32_t n, uint32_t parts, uint32_t i)
{
    uint32_t each = n / parts, larger = n % parts;

    if (i < larger * (each + 1))
        return i / (each + 1);
    return (i - larger) / each;
}

void asp_coll_power_group_find(struct asp_coll_maker *m,
                               const struct asp_coll_group *g, uint32_t count,
                               struct asp_coll_power_group *powers_p)
{
    uint32_t core = part_of(g->n, count, g->me);
    uint32_t first = asp_coll_part(g->n, count, core);
    uint32_t end = asp_coll_part(g->n, count, core + 1);
    bool some = count < g->n; /* else all are members, and the group is g */
    uint32_t *powers = some ? asp_coll_keep(m, count, sizeof(*powers)) : NULL;
    uint32_t *ranks = asp_coll_keep(m, end - first, sizeof(*ranks));
    bool good = (powers || !some) && ranks;

    *powers_p = (struct asp_coll_power_group){
        .is_member = good && g->me == first,
        .group = {count, core, some ? powers : g->ranks},
        .interval = {end - first, g->me - first, ranks},
        .first = first,
    };
    for (uint32_t i = 0, at = 0; powers && i < count; i++) {
        powers[i] = asp_coll_rank(g, at);
        at += g->n / count + (i < g->n % count);
    }
    for (uint32_t i = first; ranks && i < end; i++)
        ranks[i - first] = asp_coll_rank(g, i);
    if (!good)
        powers_p->interval.n = 1;
}

void asp_coll_power_group_join(struct asp_coll_maker *m,
                               const struct asp_coll_power_group *powers,
                               struct asp_coll_place *own_p,
                               struct asp_coll_place into, size_t bytes)
{
    if (powers->interval.n == 1)
        return;
    asp_coll_add_reduce(m, &powers->interval, 0, &flat, *own_p, into, bytes);
    if (powers->is_member)
        *own_p = into;
}

void asp_coll_power_group_tell(struct asp_coll_maker *m,
                               const struct asp_coll_power_group *powers,
                               struct asp_coll_place at, size_t bytes)
{
    if (powers->interval.n > 1)
        asp_coll_add_bcast(m, &powers->interval, 0, &flat, at, bytes);
}
