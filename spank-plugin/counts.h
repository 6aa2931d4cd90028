/* SPDX-License-Identifier: BSD-3-Clause */
/* Task counts and ranks of a step, with the ghosts taken out. Pure functions
 * on what Slurm writes into a step's environment. */
#ifndef ASPEN_SPANK_PLUGIN_COUNTS_H
#define ASPEN_SPANK_PLUGIN_COUNTS_H

#include "common/base/taskmap.h"

#include <stdint.h>

/* A step as this node sees it. */
struct asps_step_map {
    const uint32_t *counts; /* tasks per node, ghosts included */
    uint32_t ntasks;        /* of the step, as Slurm itself counts them */
    uint32_t nnodes;
    uint32_t node;            /* this one */
    uint32_t ghosts;          /* the last ones of each node */
    uint32_t plane_size;      /* 0: none */
    const char *distribution; /* SLURM_DISTRIBUTION, "" when not known */
    uint64_t *looks_p;        /* out: what it cost, in looks at nodes and
                                 tasks; NULL: not wanted */
};

/* User ranks of the tasks of this node: dense over the step, in order of
 * global ids.
 *   ranks_world  global ids of this node's tasks, counts[node] of them; they
 *                decide which way of dealing is the true one
 *   ranks_user   out: as many; ASP_RANK_NONE for ghosts
 * Returns 0, or -1 with errno ENOENT (no known way of dealing gives
 * ranks_world, e.g. --distribution=arbitrary), EINVAL (a count of 0 or above
 * ASP_TASKS_MAX, counts whose sum is not ntasks), ENOMEM.
 * Cost: at most two looks per task of the step and way of dealing; a way that
 * is not the true one ends at its first mismatch. */
int asps_user_ranks(const struct asps_step_map *map,
                    const uint32_t *ranks_world, uint32_t *ranks_user);

#endif
