/* SPDX-License-Identifier: BSD-3-Clause */
/* A trace: which share of things was on, over the time, and the first switches.
 * The things are the windows of a process (adapt/adapt.h), or the target state
 * that its leader decides (adapt/node_status_page.h). Pure: the caller brings
 * the clock and the lock. */
#ifndef ASPEN_RUNTIME_ADAPT_DECIDE_TRACE_H
#define ASPEN_RUNTIME_ADAPT_DECIDE_TRACE_H

#include <stdbool.h>
#include <stdint.h>

enum { ASPX_TRACE_SWITCHES = 64, ASPX_TRACE_BUCKETS = 64 };

/* Why it was switched: the share of the last interval that this process was in
 * MPI, in percent, or one of these. */
enum { ASPX_WHY_ASKED = -1, ASPX_WHY_ORDER = -2 /* for all ranks */ };

/* What was switched, if not the window of that order: a window that was not
 * counted, or the Puts and Gets of all windows. */
enum { ASPX_TRACE_SOME_WINDOW = 0, ASPX_TRACE_MOVES = -1 };

struct aspx_trace_switch {
    double t_s;     /* since the beginning */
    int32_t window; /* above */
    int32_t rank;   /* of the program's world */
    uint32_t node;
    int16_t on, why;
};

struct aspx_trace {
    double begin_s, last_s, bucket_s;
    int things, on; /* there are now; of these, on */
    double share;   /* on, of all; what it was last when there are none */
    double on_s[ASPX_TRACE_BUCKETS];
    uint32_t n;
    uint64_t more; /* switches that found no room */
    struct aspx_trace_switch change[ASPX_TRACE_SWITCHES];
};

/* Seconds of a clock that does not go back and is the same for all processes of
 * a node. */
double aspx_trace_clock(void);

void aspx_trace_begin(struct aspx_trace *trace, double now);

/* A thing has come (by 1) or gone (-1). */
void aspx_trace_thing(struct aspx_trace *trace, double now, int by, bool on);

/* One was switched. */
void aspx_trace_switched(struct aspx_trace *trace, double now, int32_t window,
                         bool on, int why);

/* May it be read? One that comes from shared memory may hold anything: then
 * its numbers would lead out of its arrays. Beginning, switching and closing
 * cope with that; reading and coarsening do not. */
bool aspx_trace_sane(const struct aspx_trace *trace);

/* Bring the trace up to now. */
void aspx_trace_close(struct aspx_trace *trace, double now);

/* Make its buckets as long as those of the process with the longest. */
void aspx_trace_coarsen(struct aspx_trace *trace, double bucket_s);

#endif
