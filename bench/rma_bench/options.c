/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels, and the keys they take. */
#include "bench.h"

#include "bench/keys.h"

#include <stdio.h>
#include <stdlib.h>
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

static void refuse(const char *spec, const char *word)
{
    fprintf(stderr, "rma_app: cannot make sense of '%s' in '%s'\n", word, spec);
    exit(2);
}

static bool set(struct options *out, const char *name, const char *value)
{
    if (strcmp(name, "info") == 0)
        return snprintf(out->info, sizeof(out->info), "%s", value) <
               (int) sizeof(out->info);
    return key_set(keys, out, name, value);
}

const struct kernel *options_read(const char *spec, struct options *out)
{
    const struct kernel *kernel = kernel_table;
    char *text = strdup(spec), *rest = text, *name = strsep(&rest, ",");

    while (kernel->name && strcmp(kernel->name, name) != 0)
        kernel++;
    if (!kernel->name)
        refuse(spec, name);
    *out = (struct options){.bytes = 8, .n = 1, .threads = 1, .hot_bytes = 8};
    while (rest) {
        char *word = strsep(&rest, ","), *value = strchr(word, '=');

        if (value)
            *value++ = '\0';
        if (!value || !set(out, word, value))
            refuse(spec, word);
    }
    if (out->bytes % 8 || out->hot_bytes % 8 || out->area % 16)
        refuse(spec, "bytes");
    free(text);
    return kernel;
}
