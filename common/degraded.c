/* SPDX-License-Identifier: BSD-3-Clause */
/* A layout without a plan, in its text form. spank-plugin/units_test.c decodes
 * the result with common/layout. */
#include "degraded.h"

#include "common/base/escape.h"
#include "common/base/knobs.h"
#include "common/base/request_spec.h"
#include "common/base/words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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

#define NAME_AND_FLAGS(ID, FIELD, NAME, TYPE, DEFAULT, WORDS, MIN, MAX, UNIT,  \
                       FLAGS, ...)                                             \
    {NAME, FLAGS},

/* Here and not asp_knobs[]: the plugin has no use for the rest of it. */
static const struct {
    const char *name;
    unsigned flags;
} knobs[] = {ASP_KNOBS(ASP_KNOB_SKIP, NAME_AND_FLAGS)};

static bool is_heeded(const struct asp_spec_item *item)
{
    for (size_t i = 0; i < sizeof(knobs) / sizeof(knobs[0]); i++)
        if (knobs[i].flags & ASP_KNOB_NO_HELPER &&
            asp_is_word(item->key, item->key_len, knobs[i].name))
            return !item->value || item->value_len < ASP_VALUE_MAX;
    return false;
}

static void put_knobs(struct asp_strbuf *out, const char *spec)
{
    char value[ASP_VALUE_MAX];
    struct asp_spec_item item;

    while (asp_spec_next(&spec, &item)) {
        if (!is_heeded(&item))
            continue;
        strcpy(value, "yes"); /* what a name alone means */
        if (item.value)
            snprintf(value, sizeof(value), "%.*s", (int) item.value_len,
                     item.value);
        asp_strbuf_add(out, " knob=%.*s:", (int) item.key_len, item.key);
        asp_escape(out, value, ASP_ESCAPE_MARKS);
    }
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
