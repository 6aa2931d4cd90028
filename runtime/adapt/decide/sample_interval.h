/* SPDX-License-Identifier: BSD-3-Clause */
/* How long to watch before judging again. Too short an interval takes the parts
 * of one iteration for phases, and what it decides turns back at once; too long
 * a one is late. So the interval doubles when a decision was taken back within
 * two intervals, and halves after a long calm. Pure. */
#ifndef ASPEN_RUNTIME_ADAPT_DECIDE_SAMPLE_INTERVAL_H
#define ASPEN_RUNTIME_ADAPT_DECIDE_SAMPLE_INTERVAL_H

#include <stdbool.h>
#include <stdint.h>

struct aspx_sample_interval {
    double least_s, most_s; /* bounds of the interval */
    double interval_s;
    uint32_t steady; /* judgements, four in an interval, without one
                      taken back */
};

/* Starts at the lower bound; a lower bound above the upper is taken for it. */
void aspx_sample_interval_init(struct aspx_sample_interval *interval,
                               double least_s, double most_s);

/* After all have been judged: was a decision taken back that was no older than
 * two intervals? */
void aspx_sample_interval_update(struct aspx_sample_interval *interval,
                                 bool taken_back);

#endif
