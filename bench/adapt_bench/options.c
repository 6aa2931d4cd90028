/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels, and the keys they take. */
#include "bench.h"

#include "bench/keys.h"

#include <stddef.h>

const struct kernel kernel_table[] = {
    {"alloc", alloc_run},
    {"fence", fence_run},
    {"symmetric", symmetric_run},
    {"phases", phases_run},
    {"steady", steady_run},
    {"total", total_run},
    {"handle", handle_run},
    {"messages", messages_run},
    {NULL, NULL},
};

static const struct key keys[] = {
    {"op", "put|get|acc", offsetof(struct options, op)},
    {"n", NULL, offsetof(struct options, n)},
    {"x", NULL, offsetof(struct options, x)},
    {"type", "sub|contig", offsetof(struct options, contig)},
    {"compute_us", NULL, offsetof(struct options, compute_us)},
    {"pause_us", NULL, offsetof(struct options, pause_us)},
    {"computing", NULL, offsetof(struct options, computing)},
    {"talking", NULL, offsetof(struct options, talking)},
    {"halves", NULL, offsetof(struct options, halves)},
    {"windows", NULL, offsetof(struct options, windows)},
    {"point", "none|symmetric|fence", offsetof(struct options, point)},
    {"every", "half|iteration", offsetof(struct options, every)},
    {"hints", "none|window|phase", offsetof(struct options, hints)},
    {"warm_ms", NULL, offsetof(struct options, warm_ms)},
    {"queued", NULL, offsetof(struct options, queued)},
    {"target", "poll|sleep", offsetof(struct options, sleep)},
    {"kib", NULL, offsetof(struct options, kib)},
    {NULL, NULL, 0},
};

static const struct spec_form form = {
    .program = "adapt_app",
    .kernels = kernel_table,
    .row_bytes = sizeof(kernel_table[0]),
    .keys = keys,
};

const struct kernel *options_read(const char *spec, struct options *out)
{
    const struct kernel *kernel;

    *out = (struct options){.op = OP_GET,
                            .n = 100,
                            .x = 2,
                            .computing = 10,
                            .talking = 10,
                            .halves = 2,
                            .windows = 2,
                            .compute_us = 5000,
                            .pause_us = 50,
                            .queued = 64,
                            .kib = 4096};
    kernel = spec_read(&form, spec, out);
    if (out->x < 1 || out->n < 1 || out->windows < 1 || out->halves < 1 ||
        out->kib < 1)
        spec_refuse(&form, spec, "0");
    return kernel;
}
