/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels, and the keys they take. */
#include "bench.h"

#include "bench/keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct kernel kernels[] = {
    {"post", "us", post_run},
    {"sendrecv", "us", sendrecv_run},
    {"call", "us", call_run},
    {"overlap", "%", overlap_run},
    {"availability", "%", availability_run},
    {"threads", "us", threads_run},
    {"bandwidth", "MB/s", bandwidth_run},
    {"latency", "us", latency_run},
    {"barrier", "us", barrier_run},
    {"idle", "%", idle_run},
    {"line", "us", line_run},
    {"pending", "us", pending_run},
    {NULL, NULL, NULL},
};

static const struct key keys[] = {
    {"op", "isend|irecv|ibcast|iallreduce|ialltoall|iallgather",
     offsetof(struct options, op)},
    {"bytes", NULL, offsetof(struct options, bytes)},
    {"peer", "next|self", offsetof(struct options, self)},
    {"threads", NULL, offsetof(struct options, threads)},
    {"window", NULL, offsetof(struct options, window)},
    {"pending", NULL, offsetof(struct options, pending)},
    {"ask", "wait|test|first|again", offsetof(struct options, ask)},
    {"delay_us", NULL, offsetof(struct options, delay_us)},
    {"compute", "sleep|spin", offsetof(struct options, spin)},
    {"side", "sender|receiver", offsetof(struct options, receiver)},
    {"value", "overlap|communication|wait|wait_after",
     offsetof(struct options, value)},
    {NULL, NULL, 0},
};

static void refuse(const char *spec, const char *word)
{
    fprintf(stderr, "offload_app: cannot make sense of '%s' in '%s'\n", word,
            spec);
    exit(2);
}

const struct kernel *options_read(const char *spec, struct options *out)
{
    const struct kernel *kernel = kernels;
    char *text = strdup(spec), *rest = text, *name = strsep(&rest, ",");

    while (kernel->name && strcmp(kernel->name, name) != 0)
        kernel++;
    if (!kernel->name)
        refuse(spec, name);
    *out = (struct options){.bytes = 8, .threads = 1, .window = 8};
    while (rest) {
        char *word = strsep(&rest, ","), *value = strchr(word, '=');

        if (value)
            *value++ = '\0';
        if (!value || !key_set(keys, out, word, value))
            refuse(spec, word);
    }
    if (out->bytes % 8 || out->bytes == 0 || out->window == 0)
        refuse(spec, "bytes or window");
    free(text);
    return kernel;
}
