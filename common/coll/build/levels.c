/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups and orders of rows "levels". */
#include "common/coll/build/levels.h"

uint32_t asp_coll_node_of(const struct asp_coll_maker *m, uint32_t rank)
{
    return m->nodes->of[rank];
}

uint32_t asp_coll_local_index(const struct asp_coll_maker *m, uint32_t rank)
{
    return m->nodes->position[rank] - m->nodes->first[m->nodes->of[rank]];
}

struct asp_coll_group asp_coll_local(const struct asp_coll_maker *m)
{
    const struct asp_coll_nodes *nodes = m->nodes;
    uint32_t node = nodes->of[m->rank];

    return (struct asp_coll_group){
        nodes->first[node + 1] - nodes->first[node],
        asp_coll_local_index(m, m->rank),
        nodes->members + nodes->first[node],
    };
}

bool asp_coll_leaders(struct asp_coll_maker *m, uint32_t index, int64_t instead,
                      struct asp_coll_group *g_p, bool *is_p)
{
    const struct asp_coll_nodes *nodes = m->nodes;
    uint32_t *ranks = asp_coll_keep(m, nodes->n, sizeof(*ranks));
    uint32_t me = nodes->of[m->rank];

    if (!ranks)
        return false;
    for (uint32_t i = 0; i < nodes->n; i++) {
        uint32_t last = nodes->first[i + 1] - 1, at = nodes->first[i] + index;

        ranks[i] = nodes->members[index == ASP_COLL_LAST ? last : at];
    }
    if (instead != ASP_COLL_NOBODY)
        ranks[nodes->of[instead]] = (uint32_t) instead;
    *g_p = (struct asp_coll_group){nodes->n, me, ranks};
    *is_p = ranks[me] == m->rank;
    return true;
}

struct asp_coll_tree asp_coll_inner(const struct asp_coll_maker *m)
{
    return (struct asp_coll_tree){.shape = ASP_COLL_KNOMIAL,
                                  .k = m->config->inner};
}

const size_t *asp_coll_by_node(struct asp_coll_maker *m)
{
    const struct asp_coll_problem *p = m->problem;
    bool counted = asp_coll_has_counts(p->op);
    uint32_t n = p->ranks;
    size_t *at = asp_coll_keep(m, n + 1, sizeof(*at));

    for (uint32_t i = 0; at && i < n; i++)
        at[i + 1] = at[i] +
                    (counted ? p->counts[m->nodes->members[i]] : p->bytes);
    return at;
}

const size_t *asp_coll_of_nodes(struct asp_coll_maker *m, const size_t *at)
{
    uint32_t n = m->nodes->n;
    size_t *of = asp_coll_keep(m, n + 1, sizeof(*of));

    for (uint32_t i = 0; of && i <= n; i++)
        of[i] = at[m->nodes->first[i]];
    return of;
}

void asp_coll_reorder(struct asp_coll_maker *m, struct asp_coll_place ranks,
                      const size_t *by_rank, struct asp_coll_place nodes,
                      const size_t *by_node, bool to_nodes, int64_t not_rank)
{
    uint32_t n = m->problem->ranks, end;

    for (uint32_t i = 0; i < n; i = end) {
        uint32_t rank = m->nodes->members[i];
        struct asp_coll_place one = asp_coll_past(ranks, by_rank[rank]);
        struct asp_coll_place other = asp_coll_past(nodes, by_node[i]);

        end = i + 1;
        if (rank == not_rank)
            continue;
        while (end < n && m->nodes->members[end] != not_rank &&
               by_rank[m->nodes->members[end]] - by_rank[rank] ==
                   by_node[end] - by_node[i])
            end++;
        asp_coll_copy(m->s, to_nodes ? one : other, to_nodes ? other : one,
                      by_node[end] - by_node[i]);
    }
}
