/* SPDX-License-Identifier: BSD-3-Clause */
/* Nobody knows how long the job will be: when the buckets are full, two become
 * one. Lengths are the first one times a power of two, so those of different
 * processes fit together. */
#include "config.h"

#include "trace.h"

#include <pthread.h>
#include <time.h>

static const double first_bucket_s = 1.0 / 1024;

static struct aspx_trace trace;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

double aspx_trace_clock(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double) now.tv_sec + (double) now.tv_nsec / 1e9;
}

void aspx_trace_start(void)
{
    trace.begin_s = trace.last_s = aspx_trace_clock();
    trace.bucket_s = first_bucket_s;
    trace.share = 1;
}

static void halve(struct aspx_trace *which)
{
    double *s = which->on_s;

    for (int b = 0; b < ASPX_TRACE_BUCKETS; b++)
        s[b] = 2 * b < ASPX_TRACE_BUCKETS ? s[2 * b] + s[2 * b + 1] : 0;
    which->bucket_s *= 2;
}

/* The share holds from the last look to `now`. */
static void spend(double now)
{
    double from = trace.last_s - trace.begin_s, to = now - trace.begin_s;

    while (to >= trace.bucket_s * ASPX_TRACE_BUCKETS)
        halve(&trace);
    while (from < to) {
        int b = (int) (from / trace.bucket_s);
        double edge = (b + 1) * trace.bucket_s, until = edge < to ? edge : to;

        trace.on_s[b] += (until - from) * trace.share;
        from = until > from ? until : to;
    }
    trace.last_s = now;
}

static void change(int windows, int on)
{
    spend(aspx_trace_clock());
    trace.windows += windows;
    trace.on += on;
    if (trace.windows > 0)
        trace.share = (double) trace.on / trace.windows;
}

void aspx_trace_window(int by, bool on)
{
    pthread_mutex_lock(&mutex);
    change(by, on ? by : 0);
    pthread_mutex_unlock(&mutex);
}

void aspx_trace_switched(uint32_t order, bool on, int why)
{
    pthread_mutex_lock(&mutex);
    change(0, on ? 1 : -1);
    if (trace.n == ASPX_TRACE_SWITCHES)
        trace.more++;
    else
        trace.change[trace.n++] = (struct aspx_trace_switch) {
            .t_s = trace.last_s - trace.begin_s,
            .window = order ? (int32_t) order : -1,
            .on = on,
            .why = (int16_t) why,
        };
    pthread_mutex_unlock(&mutex);
}

struct aspx_trace *aspx_trace_close(void)
{
    spend(aspx_trace_clock());
    return &trace;
}

void aspx_trace_coarsen(struct aspx_trace *which, double bucket_s)
{
    while (which->bucket_s < bucket_s)
        halve(which);
}
