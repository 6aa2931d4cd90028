/* SPDX-License-Identifier: BSD-3-Clause */
/* How long an interval of the predictor is. One that is too short takes the
 * parts of an iteration for phases, and its decisions are taken back at once;
 * one that is too long sees phases late.
 *
 *   a decision was taken back that is no older than two intervals | doubles
 *   none was, in 64 intervals                                     | halves
 *
 * Pure. */
#ifndef ASPEN_RUNTIME_ADAPT_DECIDE_SAMPLE_INTERVAL_H
#define ASPEN_RUNTIME_ADAPT_DECIDE_SAMPLE_INTERVAL_H

#include <stdbool.h>
#include <stdint.h>

struct aspx_sample_interval {
    double least_s, most_s; /* bounds of interval_s */
    double interval_s;
    uint32_t steady; /* samples in a row without a decision taken back */
};

/* Starts at the lower bound, which is the upper one at most. */
void aspx_sample_interval_init(struct aspx_sample_interval *interval,
                               double least_s, double most_s);

/* After each sample of all users: was a young decision taken back? */
void aspx_sample_interval_update(struct aspx_sample_interval *interval,
                                 bool taken_back);

#endif
