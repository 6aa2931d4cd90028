/* SPDX-License-Identifier: BSD-3-Clause */
/* Will this process be inside MPI in the next interval? Its operations are then
 * handled by itself, and redirecting them is for nothing. The rule is that of
 * the dissertation (chapter 5.3.2.1, equation 5.1): the next interval will be
 * like the last one, and between two thresholds nothing changes. The last one
 * ends now and slides along in quarters, where the paper's begins anew each
 * time: so a change is seen a half interval earlier. Pure: whoever calls brings
 * the clock. */
#ifndef ASPEN_RUNTIME_ADAPT_DECIDE_PREDICTOR_H
#define ASPEN_RUNTIME_ADAPT_DECIDE_PREDICTOR_H

#include <stdbool.h>
#include <stdint.h>

enum { ASPX_PREDICT_LOOKS = 4 }; /* in an interval */

struct aspx_predict {
    double interval_s; /* may be changed between two looks */
    double high, low;  /* fractions of the time */
    double share;      /* what was seen last */
    bool on;
    uint32_t looks; /* so far; the last ones are kept */
    double t[ASPX_PREDICT_LOOKS + 1], mpi[ASPX_PREDICT_LOOKS + 1];
};

/* Starts ON.
 *   interval_s  how much of the past counts; if nobody looks for longer, all
 *               since then
 *   high, low   0..1; a low above high is taken for high
 *   now, mpi    seconds, as below */
void aspx_predict_init(struct aspx_predict *p, double interval_s, double high,
                       double low, double now, double mpi);

/* Has a quarter of the interval passed since the last look? now: as below. */
bool aspx_predict_due(const struct aspx_predict *p, double now);

/* The wish from now on; true = ON, redirect. Looks again after a quarter of the
 * interval, not before.
 *   now  seconds of any clock that does not go back, less those in which the
 *        process could do nothing (cpu_wait.h)
 *   mpi  seconds that this process has been inside MPI up to now, the running
 *        call included (aspx_profile_mpi_seconds()) */
bool aspx_predict_update(struct aspx_predict *p, double now, double mpi);

#endif
