/* SPDX-License-Identifier: BSD-3-Clause */
/* Called in slurmstepd on values from the step's environment, which the user
 * can write: every number is bounded before it is used, and what it costs is
 * bounded by what Slurm itself says of the step. */
#include "config.h"

#include "counts.h"

#include "common/base/taskmap.h"

#include <errno.h>
#include <stdbool.h>

/* What dealing needs to remember. */
struct ranks {
    const struct asps_step_map *map;
    const uint32_t *ranks_world;
    uint32_t *ranks_user;
    uint32_t next_user;
    bool found;
};

/* The next global id goes to this node; when Slurm gave it another, the way of
 * dealing is not Slurm's. With the last id of this node all is known. */
static bool give_rank(void *context, uint32_t node, uint32_t local, uint32_t id)
{
    struct ranks *ranks = context;
    const struct asps_step_map *map = ranks->map;
    uint32_t rank_user = ASP_RANK_NONE;

    if (local + map->ghosts < map->counts[node])
        rank_user = ranks->next_user++;
    if (node != map->node)
        return true;
    if (ranks->ranks_world[local] != id)
        return false;
    ranks->ranks_user[local] = rank_user;
    ranks->found = local + 1 == map->counts[node];
    return !ranks->found;
}

/* Are these the counts of the step that Slurm speaks of? */
static bool counts_add_up(const struct asps_step_map *map)
{
    uint64_t sum = 0;

    if (map->nnodes > ASP_NODES_MAX || map->node >= map->nnodes)
        return false;
    for (uint32_t node = 0; node < map->nnodes; node++) {
        if (map->counts[node] == 0 || map->counts[node] > ASP_TASKS_MAX)
            return false;
        sum += map->counts[node];
    }
    return sum == map->ntasks;
}

int asps_user_ranks(const struct asps_step_map *map,
                    const uint32_t *ranks_world, uint32_t *ranks_user)
{
    struct ranks ranks = {
        .map = map, .ranks_world = ranks_world, .ranks_user = ranks_user};
    struct asp_deal deal = {.counts = map->counts,
                            .nnodes = map->nnodes,
                            .give = give_rank,
                            .context = &ranks};
    uint32_t turns[ASP_TURNS];
    int rc = 0;

    if (!counts_add_up(map)) {
        errno = EINVAL;
        return -1;
    }
    asp_taskmap_turns(map->distribution, map->plane_size, turns, NULL);
    for (size_t i = 0; i < ASP_TURNS && rc == 0 && !ranks.found; i++) {
        ranks.next_user = 0;
        if (turns[i])
            rc = asp_taskmap_deal(&deal, turns[i]);
    }
    if (map->looks_p != NULL)
        *map->looks_p = deal.looks;
    if (rc == 0 && !ranks.found) {
        errno = ENOENT;
        rc = -1;
    }
    return rc;
}
