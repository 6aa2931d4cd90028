/* SPDX-License-Identifier: BSD-3-Clause */
/* Nobody knows how long the job will be: when the buckets are full, two become
 * one. Lengths are the first one times a power of two, so those of different
 * processes fit together. */
#include "config.h"

#include "trace.h"

#include "runtime/base/clock.h"

static const double first_bucket_s = 1.0 / 1024;
static const double last_bucket_s = 1u << 30; /* 64 of them are 2,000 years */

double aspx_trace_clock(void)
{
    return 1e-9 * (double) aspx_clock_ns(CLOCK_MONOTONIC);
}

void aspx_trace_begin(struct aspx_trace *trace, double now)
{
    trace->begin_s = trace->last_s = now;
    trace->bucket_s = first_bucket_s;
    trace->share = 1;
}

static void halve(struct aspx_trace *trace)
{
    double *s = trace->on_s;

    for (int b = 0; b < ASPX_TRACE_BUCKETS; b++)
        s[b] = 2 * b < ASPX_TRACE_BUCKETS ? s[2 * b] + s[2 * b + 1] : 0;
    trace->bucket_s *= 2;
}

/* Does what was written last lie in a bucket? Nothing does that is NaN. */
static bool is_in_range(const struct aspx_trace *trace)
{
    double length = trace->last_s - trace->begin_s;

    return trace->bucket_s >= first_bucket_s &&
           trace->bucket_s <= last_bucket_s && trace->begin_s >= 0 &&
           length >= 0 && length < trace->bucket_s * ASPX_TRACE_BUCKETS;
}

bool aspx_trace_sane(const struct aspx_trace *trace)
{
    if (!is_in_range(trace) || trace->n > ASPX_TRACE_SWITCHES ||
        !(trace->share >= 0 && trace->share <= 1))
        return false;
    for (int b = 0; b < ASPX_TRACE_BUCKETS; b++)
        if (!(trace->on_s[b] >= 0 && trace->on_s[b] <= 2 * trace->bucket_s))
            return false; /* twice: sums are rounded */
    for (uint32_t i = 0; i < trace->n; i++)
        if (!(trace->change[i].t_s >= 0 &&
              trace->change[i].t_s <= trace->last_s - trace->begin_s))
            return false;
    return true;
}

/* The share holds from the last look to now. A trace in shared memory may have
 * been overwritten: such a one begins anew. */
void aspx_trace_close(struct aspx_trace *trace, double now)
{
    double from = trace->last_s - trace->begin_s, to = now - trace->begin_s;

    if (trace->bucket_s <= 0) /* it has not begun */
        return;
    if (!is_in_range(trace) || to >= last_bucket_s * ASPX_TRACE_BUCKETS) {
        *trace = (struct aspx_trace){0};
        aspx_trace_begin(trace, now);
        return;
    }
    while (to >= trace->bucket_s * ASPX_TRACE_BUCKETS)
        halve(trace);
    while (from < to) {
        int b = (int) (from / trace->bucket_s);
        double edge = (b + 1) * trace->bucket_s;
        double until = edge < to ? edge : to;

        trace->on_s[b] += (until - from) * trace->share;
        from = until > from ? until : to;
    }
    trace->last_s = now;
}

static void change(struct aspx_trace *trace, double now, int things, int on)
{
    aspx_trace_close(trace, now);
    trace->things += things;
    trace->on += on;
    if (trace->things > 0)
        trace->share = (double) trace->on / trace->things;
}

void aspx_trace_thing(struct aspx_trace *trace, double now, int by, bool on)
{
    change(trace, now, by, on ? by : 0);
}

void aspx_trace_switched(struct aspx_trace *trace, double now, int32_t window,
                         bool on, int why)
{
    change(trace, now, 0, on ? 1 : -1);
    if (trace->n >= ASPX_TRACE_SWITCHES) {
        trace->more++;
        return;
    }
    trace->change[trace->n++] = (struct aspx_trace_switch){
        .t_s = now - trace->begin_s,
        .window = window,
        .on = on,
        .why = (int16_t) why,
    };
}

void aspx_trace_coarsen(struct aspx_trace *trace, double bucket_s)
{
    while (trace->bucket_s > 0 && trace->bucket_s < bucket_s)
        halve(trace);
}
