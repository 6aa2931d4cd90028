/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels, and the keys they take. */
#include "bench.h"

#include "bench/keys.h"

#include <stdio.h>
#include <string.h>

const struct kernel kernel_table[] = {
    {"flush", ORIGIN_ALONE, "us", false, passive_open, flush_step,
     passive_close},
    {"stall", ORIGIN, "us", false, passive_open, stall_step, passive_close},
    {"lock", ORIGIN_ALONE, "us", false, area_open, lock_step, area_close},
    {"lockall", ORIGIN_ALONE, "us", false, area_open, lockall_step, area_close},
    {"fence", ORIGIN, "us", false, area_open, fence_step, area_close},
    {"pscw", ORIGIN, "us", false, area_open, pscw_step, area_close},
    {"slowdown", TARGET, "us", false, area_open, slowdown_step, area_close},
    {"all", SLOWEST, "us", false, area_open, all_step, area_close},
    {"alloc", SLOWEST, "us", false, alloc_open, alloc_step, alloc_close},
    {"copy", ORIGIN_ALONE, "us", false, copy_open, copy_step, copy_close},
    {"rate", ORIGIN, "us", false, alloc_open, rate_step, alloc_close},
    {"ghost_rss", ORIGIN, "KB", true, alloc_open, ghost_rss_step, alloc_close},
    {NULL, ORIGIN, NULL, false, NULL, NULL, NULL},
};

static const struct key keys[] = {
    {"op", "put|get|acc", offsetof(struct options, op)},
    {"bytes", NULL, offsetof(struct options, bytes)},
    {"n", NULL, offsetof(struct options, n)},
    {"first", NULL, offsetof(struct options, first)},
    {"hot_acc", NULL, offsetof(struct options, hot_acc)},
    {"hot_put", NULL, offsetof(struct options, hot_put)},
    {"hot_bytes", NULL, offsetof(struct options, hot_bytes)},
    {"acc", NULL, offsetof(struct options, acc)},
    {"put", NULL, offsetof(struct options, put)},
    {"area", NULL, offsetof(struct options, area)},
    {"delay_us", NULL, offsetof(struct options, delay_us)},
    {"windows", NULL, offsetof(struct options, windows)},
    {"warm_ms", NULL, offsetof(struct options, warm_ms)},
    {"threads", NULL, offsetof(struct options, threads)},
    {"peer", "next|self", offsetof(struct options, self)},
    {"target", "poll|sleep", offsetof(struct options, sleep)},
    {"assert", "none|nocheck", offsetof(struct options, nocheck)},
    {"measure", "wall|cpu", offsetof(struct options, cpu)},
    {NULL, NULL, 0},
};

static bool set_info(void *options, const char *name, const char *value)
{
    struct options *out = options;

    return strcmp(name, "info") == 0 &&
           snprintf(out->info, sizeof(out->info), "%s", value) <
               (int) sizeof(out->info);
}

static const struct spec_form form = {
    .program = "rma_app",
    .kernels = kernel_table,
    .row_bytes = sizeof(kernel_table[0]),
    .keys = keys,
    .set_other = set_info,
};

const struct kernel *options_read(const char *spec, struct options *out)
{
    const struct kernel *kernel;

    *out = (struct options){.bytes = 8, .n = 1, .threads = 1, .hot_bytes = 8};
    kernel = spec_read(&form, spec, out);
    if (out->bytes % 8 || out->hot_bytes % 8 || out->area % 16)
        spec_refuse(&form, spec, "bytes");
    return kernel;
}
