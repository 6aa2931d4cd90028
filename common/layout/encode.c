/* SPDX-License-Identifier: BSD-3-Clause */
/* Layout -> text. The form is described in docs/design/layout.md; the decoder
 * (decode.c) is its other half. */
#include "wire.h"

#include "common/base/escape.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A value of several that colons separate. */
static void put_part(struct asp_strbuf *out, const char *text)
{
    asp_escape(out, text, "._,@+/-");
}

static void put_value(struct asp_strbuf *out, const char *text)
{
    asp_escape(out, text, ASP_ESCAPE_MARKS);
}

static void put_rank(struct asp_strbuf *out, uint32_t rank)
{
    if (rank == ASP_RANK_NONE)
        asp_strbuf_add(out, "-");
    else
        asp_strbuf_add(out, "%" PRIu32, rank);
}

static void put_cpus(struct asp_strbuf *out, const struct asp_cpuset *cpus)
{
    char text[5 * ASP_CPUS_MAX]; /* "1023," for each */

    asp_cpuset_print(cpus, text, sizeof(text));
    asp_strbuf_add(out, "%s", text);
}

/* Ascending ranks as runs: "4", "0-3" or "0-6/2" (every second). */
static void put_ranks(struct asp_strbuf *out, const uint32_t *ranks,
                      uint32_t count)
{
    for (uint32_t i = 0, last; i < count; i = last + 1) {
        uint32_t step;

        if (i)
            asp_strbuf_add(out, ",");
        asp_strbuf_add(out, "%" PRIu32, ranks[i]);
        last = i;
        if (i + 1 == count)
            continue;
        step = ranks[i + 1] - ranks[i];
        while (last + 1 < count && ranks[last + 1] - ranks[last] == step)
            last++;
        if (step != 1 && last - i < 2) { /* a pair is no pattern */
            last = i;
            continue;
        }
        asp_strbuf_add(out, "-%" PRIu32, ranks[last]);
        if (step != 1)
            asp_strbuf_add(out, "/%" PRIu32, step);
    }
}

static void put_nodes(struct asp_strbuf *out, const struct asp_layout *layout,
                      bool names)
{
    if (!layout->nodes)
        return;
    asp_strbuf_add(out, " nodes=");
    for (uint32_t n = 0; n < layout->nnodes; n++) {
        const struct asp_layout_node *node = &layout->nodes[n];

        if (n)
            asp_strbuf_add(out, ";");
        if (names || n == layout->node)
            put_part(out, node->name);
        asp_strbuf_add(out, ":");
        put_ranks(out, node->ranks_world, node->ntasks);
    }
}

static void put_task(struct asp_strbuf *out, const struct asp_layout_task *task)
{
    asp_strbuf_add(out, " task=");
    put_rank(out, task->rank_world);
    asp_strbuf_add(out, ":%s:", asp_role_name(task->role));
    put_rank(out, task->rank_user);
    asp_strbuf_add(out, ":");
    put_rank(out, task->ghost);
    asp_strbuf_add(out, ":numa%d:h%d:c", task->numa, task->cpu_helper_os);
    put_cpus(out, &task->cpus);
}

static void put_rules(struct asp_strbuf *out, enum asp_objkind_id kind,
                      const struct asp_objrules *rules)
{
    for (uint32_t r = 0; r < rules->n; r++) {
        char text[ASP_OBJRULE_TEXT_MAX];

        asp_objrule_print(&rules->rule[r], text, sizeof(text));
        asp_strbuf_add(out, " %s=%s", asp_objkind(kind)->word, text);
    }
}

static size_t encode(const struct asp_layout *layout, char *buf, size_t size,
                     bool names)
{
    struct asp_strbuf out = asp_strbuf_on(buf, size);

    asp_strbuf_add(&out, ASP_LAYOUT_MAGIC "%" PRIu32 " job=", layout->version);
    put_value(&out, layout->job);
    asp_strbuf_add(&out, " mode=%s gpn=%" PRIu32 " bound=%s reason=",
                   asp_mode_name(layout->mode), layout->ghosts_per_node,
                   layout->bound ? "yes" : "no");
    put_value(&out, layout->reason);
    asp_strbuf_add(&out, " digest=");
    put_value(&out, layout->policy_digest);
    asp_strbuf_add(&out, " size=%" PRIu32 " nnodes=%" PRIu32 " node=%" PRIu32,
                   layout->size_world, layout->nnodes, layout->node);
    put_nodes(&out, layout, names);
    asp_strbuf_add(&out, " service=");
    put_cpus(&out, &layout->service);
    for (uint32_t t = 0; t < layout->ntasks; t++)
        put_task(&out, &layout->tasks[t]);
    for (enum asp_knob_id id = 0; id < ASP_KNOB_COUNT; id++) {
        char value[ASP_VALUE_MAX];

        if (!(asp_knobs[id].flags & ASP_KNOB_TO_RUNTIME))
            continue;
        asp_strbuf_add(&out, " knob=%s:", asp_knobs[id].name);
        put_value(&out, asp_knobs_text(&layout->knobs, id, value));
    }
    for (enum asp_objkind_id kind = 0; kind < ASP_OBJ_KINDS; kind++)
        put_rules(&out, kind, &layout->rules[kind]);
    asp_strbuf_add(&out, " end");
    return out.cut ? 0 : out.len;
}

int asp_layout_encode(const struct asp_layout *layout, char *buf, size_t size,
                      struct asp_err *err)
{
    size_t used;

    if (size > ASP_LAYOUT_TEXT_MAX + 1)
        size = ASP_LAYOUT_TEXT_MAX + 1;
    /* The names of the other nodes are for people: on a machine of many
     * thousand nodes they are the first thing to go. */
    used = encode(layout, buf, size, true);
    if (!used)
        used = encode(layout, buf, size, false);
    if (!used) {
        if (size)
            buf[0] = '\0';
        return asp_errf(err, ENOSPC,
                        "layout of %" PRIu32 " ranks on %" PRIu32
                        " nodes does not fit in %zu bytes",
                        layout->size_world, layout->nnodes, size);
    }
    return (int) used;
}
