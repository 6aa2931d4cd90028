/* SPDX-License-Identifier: BSD-3-Clause */
/* How a program uses a collective: do its calls stand alone, so that latency
 * counts (strict), or do they come back to back, so that the next one may
 * overlap with this (loose)? Each rank counts what it sees; what they all go by
 * is agreed at the end of an epoch, whose length in calls all know.
 *
 *   epoch of w calls; in its last 16: close or not  --MAX over ranks--> pattern
 *        ^                                                                |
 *        +----- changed: w = first; else w doubles, up to a limit --------+
 *
 * In the calls before these 16 nothing is looked at, so that they cost nothing.
 *
 * A call is close when the time since the last one of its kind ended on this
 * rank is at most the time that one took, and nothing lay between that makes
 * ranks wait for each other. A pattern is changed only by an epoch that leaves
 * no doubt: loose when at least three quarters of the calls were close on every
 * rank, strict when fewer than half were on some rank.
 *
 * Source: Nishtala 2009, 4.2.1 and 7.2.1 (table 7.2: the best radix of a Reduce
 * of 8 KiB depends on it). */
#ifndef ASPEN_COMMON_TUNE_PATTERN_H
#define ASPEN_COMMON_TUNE_PATTERN_H

#include "key.h"

enum {
    /* Calls of the first epoch; so many are looked at in each. */
    ASP_PATTERN_FIRST = 16,
    ASP_PATTERN_MAX = 16384, /* of the longest */
};

struct asp_pattern {
    enum asp_tune_pattern now; /* agreed: equal on all ranks */
    uint32_t epoch, seen;      /* calls: equal on all ranks */
    uint32_t close;            /* this rank's */
    uint32_t changes;
};

void asp_pattern_start(struct asp_pattern *pattern);

/* A call begins. Returns whether an agreement is due at its end; equal on all
 * ranks. A due one that does not come (nonblocking calls) stays due. */
bool asp_pattern_call(struct asp_pattern *pattern);

/* Is the call that began last one of those that are looked at? */
bool asp_pattern_looks(const struct asp_pattern *pattern);

/* How many calls from now on need nothing, and that so many have been made
 * without asp_pattern_call(). Equal on all ranks. */
uint32_t asp_pattern_rest(const struct asp_pattern *pattern);
void asp_pattern_pass(struct asp_pattern *pattern, uint32_t calls);

/* What this rank saw of it; of no account in a call that is not looked at.
 *   gap_us     since the last call of this kind ended here, or negative
 *   last_us    how long that one took here
 *   separated  a barrier, or another collective in which all wait for all, came
 *              between on this communicator */
void asp_pattern_note(struct asp_pattern *pattern, double gap_us,
                      double last_us, bool separated);

/* What goes into the agreement (MAX), and what came out of it. */
double asp_pattern_value(const struct asp_pattern *pattern);
void asp_pattern_agreed(struct asp_pattern *pattern, double value);

#endif
