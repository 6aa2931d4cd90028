/* SPDX-License-Identifier: BSD-3-Clause */
/* Which task this is, by what the launcher says. */
#ifndef ASPEN_TOOLS_TASK_PLACE_H
#define ASPEN_TOOLS_TASK_PLACE_H

#include "arguments.h"

#include "common/base/err.h"
#include "common/base/limits.h"
#include "common/layout/layout.h"
#include "common/plan/step_ranks.h"

#include <stdbool.h>
#include <stdint.h>

struct aspt_place {
    bool slurm; /* else hydra */
    char job[ASP_NAME_MAX];
    char nodename[ASP_NAME_MAX]; /* for messages */
    uint32_t ntasks;             /* of the step, ghosts included */
    uint32_t nnodes;
    uint32_t node;                 /* this one */
    uint32_t nlocal;               /* tasks of this node */
    uint32_t local;                /* this one of them */
    uint32_t ranks[ASP_TASKS_MAX]; /* of this node's tasks */
    struct asp_step_ranks *steps; /* with names; owned; NULL: the ranks of other
                                     nodes cannot be known */
    char no_steps[ASP_VALUE_MAX]; /* and why */
};

/* Find it. The counts of this node, on which roles depend, must be certain:
 * what the launcher says twice must agree.
 *   out_p  aspt_place_clear() by the caller
 * Returns 0, or -1 with errno EINVAL and err. Reads the environment. */
int aspt_place_find(const struct aspt_task_arguments *arguments,
                    struct aspt_place *out_p, struct asp_err *err);

void aspt_place_clear(struct aspt_place *place);

/* The ranks that this node's tasks have among the users of the step.
 *   ghosts  per node
 *   out     nlocal of them; ASP_RANK_NONE: a ghost
 * Returns 0, or -1 where they cannot be known. Cost: O(tasks of the step). */
int aspt_place_user_ranks(const struct aspt_place *place, uint32_t ghosts,
                          uint32_t *out);

#endif
