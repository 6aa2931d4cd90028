/* SPDX-License-Identifier: BSD-3-Clause */
/* A layout without a plan, in its text form. spank-plugin/units_test.c decodes
 * the result with common/layout. */
#include "degraded.h"

#include "common/base/escape.h"
#include "common/base/request_spec.h"

#include <inttypes.h>

static void put_task(struct asp_strbuf *out, const struct asp_degraded *step,
                     uint32_t slot)
{
    if (step->ghosts == 0)
        asp_strbuf_add(out, " task=%" PRIu32 ":user:%" PRIu32 ":-:numa-1:h-1:c",
                       step->ranks_world[slot], step->ranks_world[slot]);
    else
        asp_strbuf_add(out, " task=-:%s:-:-:numa-1:h-1:c",
                       slot + step->ghosts < step->nlocal ? "user" : "ghost");
}

/* Knobs that the runtime heeds in mode off, too. */
static void put_knobs(struct asp_strbuf *out, const char *spec)
{
    static const char *const knobs[] = {"pack", "match"};

    for (size_t i = 0; i < sizeof(knobs) / sizeof(knobs[0]); i++)
        if (asp_spec_says(spec, knobs[i], "auto"))
            asp_strbuf_add(out, " knob=%s:auto", knobs[i]);
        else if (asp_spec_says(spec, knobs[i], "off"))
            asp_strbuf_add(out, " knob=%s:off", knobs[i]);
}

char *asp_degraded_layout(const struct asp_degraded *step)
{
    struct asp_strbuf out = ASP_STRBUF_GROWING;

    asp_strbuf_add(
        &out, "aspen-layout/1 job=%s mode=%s gpn=%" PRIu32 " bound=no reason=",
        step->job, step->mode, step->ghosts);
    asp_escape(&out, step->reason, ASP_ESCAPE_MARKS);
    asp_strbuf_add(&out,
                   " digest= size=%" PRIu32 " nnodes=%" PRIu32 " node=%" PRIu32
                   " service=",
                   step->ntasks, step->nnodes, step->node);
    for (uint32_t i = 0; i < step->nlocal; i++)
        put_task(&out, step, i);
    put_knobs(&out, step->spec);
    asp_strbuf_add(&out, " end");
    return asp_strbuf_take(&out);
}
