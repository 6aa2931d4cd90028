/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels, and the keys they take. */
#include "bench.h"

#include "bench/keys.h"

#include <stddef.h>

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
    {"exchange", "us", exchange_run},
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
    {"value", "overlap|communication|wait|wait_after|hidden",
     offsetof(struct options, value)},
    {"shape", "pair|grid", offsetof(struct options, grid)},
    {"part", "all|post|wait", offsetof(struct options, part)},
    {NULL, NULL, 0},
};

static const struct spec_form form = {
    .program = "offload_app",
    .kernels = kernels,
    .row_bytes = sizeof(kernels[0]),
    .keys = keys,
};

const struct kernel *options_read(const char *spec, struct options *out)
{
    const struct kernel *kernel;

    *out = (struct options){.bytes = 8, .threads = 1, .window = 8};
    kernel = spec_read(&form, spec, out);
    if (out->bytes % 8 || out->bytes == 0 || out->window == 0)
        spec_refuse(&form, spec, "bytes or window");
    return kernel;
}
