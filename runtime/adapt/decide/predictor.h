/* SPDX-License-Identifier: BSD-3-Clause */
/* Will this process be inside MPI in the next interval? Then it handles
 * operations on its memory itself, and redirecting them gains nothing. The rule
 * is that of the dissertation (chapter 5.3.2.1, equation 5.1): the next
 * interval will be like the last one.
 *
 *   share of the last interval in MPI | redirection
 *   above high                        | off
 *   between                           | as before
 *   below low                         | on
 *
 * The interval slides in quarters instead of beginning anew each time, which
 * shows a change half an interval earlier. Pure: the caller brings the clock.
 */
#ifndef ASPEN_RUNTIME_ADAPT_DECIDE_PREDICTOR_H
#define ASPEN_RUNTIME_ADAPT_DECIDE_PREDICTOR_H

#include <stdbool.h>
#include <stdint.h>

enum { ASPX_PREDICT_SAMPLES = 4 }; /* in an interval */

struct aspx_predict {
    double interval_s; /* may be changed between two samples */
    double high, low;  /* fractions of the time */
    double share;      /* of the last interval, in MPI */
    bool on;
    uint32_t samples; /* so far; the last ones are kept */
    double t[ASPX_PREDICT_SAMPLES + 1], mpi[ASPX_PREDICT_SAMPLES + 1];
};

/* Starts ON.
 *   interval_s  how much of the past counts; if the last sample is older, all
 *               since then
 *   high, low   0..1; low is at most high
 *   now, mpi    seconds, as below */
void aspx_predict_init(struct aspx_predict *p, double interval_s, double high,
                       double low, double now, double mpi);

/* Has a quarter of the interval passed since the last sample? now: as below. */
bool aspx_predict_due(const struct aspx_predict *p, double now);

/* Take a sample, if one is due. Returns whether to redirect from now on.
 *   now  seconds of a monotonic clock, less those in which the process waited
 *        for a CPU (cpu_wait.h)
 *   mpi  seconds that this process has been inside MPI so far, including the
 *        running call (aspx_profile_mpi_seconds()) */
bool aspx_predict_update(struct aspx_predict *p, double now, double mpi);

#endif
