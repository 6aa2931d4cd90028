/* SPDX-License-Identifier: BSD-3-Clause */
/* The layout that a task gets without an agent's answer; called in tasks.
 * units_test.c decodes the result with common/layout. */
#include "config.h"

#include "degraded.h"

#include "common/base/escape.h"

#include <inttypes.h>

/* Without ghosts the ranks are Slurm's. */
static void put_task(struct asp_strbuf *out, const struct asps_step *step,
                     uint32_t slot)
{
    uint32_t rank = step->ranks_world[slot];

    if (step->spec.ghosts == 0)
        asp_strbuf_add(out, " task=%" PRIu32 ":user:%" PRIu32 ":-:numa-1:h-1:c",
                       rank, rank);
    else
        asp_strbuf_add(out, " task=-:%s:-:-:numa-1:h-1:c",
                       slot < asps_step_users(step) ? "user" : "ghost");
}

char *asps_degraded_layout(const struct asps_step *step)
{
    struct asp_strbuf out = ASP_STRBUF_GROWING;

    asp_strbuf_add(&out,
                   "aspen-layout/1 job=%" PRIu32 ".%" PRIu32
                   " mode=%s gpn=%" PRIu32 " bound=no reason=",
                   step->job, step->id, step->spec.mode, step->spec.ghosts);
    asp_escape(&out, step->reason, ASP_ESCAPE_MARKS);
    asp_strbuf_add(&out,
                   " digest= size=%" PRIu32 " nnodes=%" PRIu32 " node=%" PRIu32
                   " service=",
                   step->ntasks, step->nnodes, step->node);
    for (uint32_t i = 0; i < step->nlocal; i++)
        put_task(&out, step, i);
    asp_strbuf_add(&out, " end");
    return asp_strbuf_take(&out);
}
