/* SPDX-License-Identifier: BSD-3-Clause */
/* Layout -> text. The form is described in docs/design/layout.md; the decoder
 * (decode.c) is its other half. */
#include "wire.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The text being written. Once full, every put is ignored. */
struct out {
    char *buf;
    size_t size;
    size_t used;
    bool full;
};

static void put(struct out *out, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void put(struct out *out, const char *fmt, ...)
{
    va_list args;
    int n;

    if (out->full)
        return;
    va_start(args, fmt);
    n = vsnprintf(out->buf + out->used, out->size - out->used, fmt, args);
    va_end(args);
    if (n < 0 || (size_t) n >= out->size - out->used)
        out->full = true;
    else
        out->used += (size_t) n;
}

/* A value; colon is escaped too where it separates. */
static void put_escaped(struct out *out, const char *text, bool colon)
{
    for (; *text; text++) {
        if (asp_layout_plain(*text) && !(colon && *text == ':'))
            put(out, "%c", *text);
        else
            put(out, "%%%02X", (unsigned) (unsigned char) *text);
    }
}

static void put_rank(struct out *out, uint32_t rank)
{
    if (rank == ASP_RANK_NONE)
        put(out, "-");
    else
        put(out, "%" PRIu32, rank);
}

static void put_cpus(struct out *out, const struct asp_cpuset *cpus)
{
    int n;

    if (out->full)
        return;
    n = asp_cpuset_print(cpus, out->buf + out->used, out->size - out->used);
    if (n < 0)
        out->full = true;
    else
        out->used += (size_t) n;
}

/* Ascending ranks as runs: "4", "0-3" or "0-6/2" (every second). */
static void put_ranks(struct out *out, const uint32_t *ranks, uint32_t count)
{
    for (uint32_t i = 0, last; i < count; i = last + 1) {
        uint32_t step;

        if (i)
            put(out, ",");
        put(out, "%" PRIu32, ranks[i]);
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
        put(out, "-%" PRIu32, ranks[last]);
        if (step != 1)
            put(out, "/%" PRIu32, step);
    }
}

static void put_nodes(struct out *out, const struct asp_layout *layout,
                      bool names)
{
    if (!layout->nodes)
        return;
    put(out, " nodes=");
    for (uint32_t n = 0; n < layout->nnodes; n++) {
        const struct asp_layout_node *node = &layout->nodes[n];

        if (n)
            put(out, ";");
        if (names || n == layout->node)
            put_escaped(out, node->name, true);
        put(out, ":");
        put_ranks(out, node->ranks_world, node->ntasks);
    }
}

static void put_task(struct out *out, const struct asp_layout_task *task)
{
    put(out, " task=");
    put_rank(out, task->rank_world);
    put(out, ":%s:", asp_role_name(task->role));
    put_rank(out, task->rank_user);
    put(out, ":");
    put_rank(out, task->ghost);
    put(out, ":numa%d:h%d:c", task->numa, task->cpu_helper_os);
    put_cpus(out, &task->cpus);
}

static size_t encode(const struct asp_layout *layout, char *buf, size_t size,
                     bool names)
{
    struct out out = {.buf = buf, .size = size, .full = size == 0};

    put(&out, ASP_LAYOUT_MAGIC "%" PRIu32 " job=", layout->version);
    put_escaped(&out, layout->job, false);
    put(&out, " mode=%s gpn=%" PRIu32 " bound=%s reason=",
        asp_mode_name(layout->mode), layout->ghosts_per_node,
        layout->bound ? "yes" : "no");
    put_escaped(&out, layout->reason, false);
    put(&out, " digest=");
    put_escaped(&out, layout->policy_digest, false);
    put(&out, " size=%" PRIu32 " nnodes=%" PRIu32 " node=%" PRIu32,
        layout->size_world, layout->nnodes, layout->node);
    put_nodes(&out, layout, names);
    put(&out, " service=");
    put_cpus(&out, &layout->service);
    for (uint32_t t = 0; t < layout->ntasks; t++)
        put_task(&out, &layout->tasks[t]);
    for (uint32_t k = 0; k < layout->nknobs; k++) {
        put(&out, " knob=");
        put_escaped(&out, layout->knobs[k].name, true);
        put(&out, ":");
        put_escaped(&out, layout->knobs[k].value, false);
    }
    for (uint32_t w = 0; w < layout->windows.n; w++) {
        char text[ASP_WINRULE_TEXT_MAX];

        asp_winrule_print(&layout->windows.rule[w], text, sizeof(text));
        put(&out, " window=%s", text);
    }
    put(&out, " end");
    return out.full ? 0 : out.used;
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
