/* SPDX-License-Identifier: BSD-3-Clause */
/* What became of redirection to this process, for the record: its switches, and
 * how much of its windows was on, over the time. */
#ifndef ASPEN_RUNTIME_ADAPT_TRACE_H
#define ASPEN_RUNTIME_ADAPT_TRACE_H

#include <stdbool.h>
#include <stdint.h>

enum { ASPX_TRACE_SWITCHES = 64, ASPX_TRACE_BUCKETS = 64 };

/* Why it was switched: the share of the last interval that this process was in
 * MPI, in percent, or this. */
enum { ASPX_WHY_ASKED = -1 };

struct aspx_trace_switch {
    double t_s;      /* since the start */
    int32_t window;  /* its order; -1: not counted */
    int32_t rank;    /* of the program's world */
    uint32_t node;
    int16_t on, why;
};

struct aspx_trace {
    double begin_s, last_s, bucket_s;
    int windows, on; /* alive and able to be switched; of these, on */
    double share;    /* on, of all; what it was last when there are none */
    double on_s[ASPX_TRACE_BUCKETS];
    uint32_t n;
    uint64_t more;   /* switches that found no room */
    struct aspx_trace_switch change[ASPX_TRACE_SWITCHES];
};

/* Seconds of a clock that does not go back. */
double aspx_trace_clock(void);

void aspx_trace_start(void);

/* A window that can be switched has come (by 1) or gone (-1). Threads: any. */
void aspx_trace_window(int by, bool on);

/* One of them was switched. Threads: any. */
void aspx_trace_switched(uint32_t order, bool on, int why);

/* The end: the trace up to now, valid for ever. No more windows after that. */
struct aspx_trace *aspx_trace_close(void);

/* Then make its buckets as long as those of the process with the longest. */
void aspx_trace_coarsen(struct aspx_trace *trace, double bucket_s);

#endif
