/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels, and the keys they take. */
#include "bench.h"

#include "bench/keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void refuse(const char *spec, const char *word)
{
    fprintf(stderr, "adapt_app: cannot make sense of '%s' in '%s'\n", word,
            spec);
    exit(2);
}

const struct kernel *options_read(const char *spec, struct options *out)
{
    const struct kernel *kernel = kernel_table;
    char *text = strdup(spec), *rest = text, *name = strsep(&rest, ",");

    while (kernel->name && strcmp(kernel->name, name) != 0)
        kernel++;
    if (!kernel->name)
        refuse(spec, name);
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
    while (rest) {
        char *word = strsep(&rest, ","), *value = strchr(word, '=');

        if (value)
            *value++ = '\0';
        if (!value || !key_set(keys, out, word, value))
            refuse(spec, word);
    }
    if (out->x < 1 || out->n < 1 || out->windows < 1 || out->halves < 1 ||
        out->kib < 1)
        refuse(spec, "0");
    free(text);
    return kernel;
}
