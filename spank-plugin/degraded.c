/* SPDX-License-Identifier: BSD-3-Clause */
/* The layout that a task gets without an agent's answer; called in tasks. */
#include "config.h"

#include "degraded.h"

#include "common/degraded.h"

#include <inttypes.h>
#include <stdio.h>

char *asps_degraded_layout(const struct asps_step *step)
{
    char job[32];
    struct asp_degraded known = {
        .job = job,
        .spec = step->text,
        .mode = step->spec.mode,
        .reason = step->reason,
        .ghosts = step->spec.ghosts,
        .ntasks = step->ntasks,
        .nnodes = step->nnodes,
        .node = step->node,
        .nlocal = step->nlocal,
        .ranks_world = step->ranks_world,
    };

    snprintf(job, sizeof(job), "%" PRIu32 ".%" PRIu32, step->job, step->id);
    return asp_degraded_layout(&known);
}
