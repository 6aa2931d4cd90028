/* SPDX-License-Identifier: BSD-3-Clause */
/* Will this process be inside MPI in the next interval? Its operations are then
 * handled by itself, and redirecting them is for nothing. The rule is that of
 * the dissertation (chapter 5.3.2.1, equation 5.1): the next interval will be
 * like the last one, and between two thresholds nothing changes. Pure: whoever
 * calls brings the clock. */
#ifndef ASPEN_RUNTIME_PROFILE_PREDICT_H
#define ASPEN_RUNTIME_PROFILE_PREDICT_H

#include <stdbool.h>

struct aspx_predict {
    double interval_s;
    double high, low; /* fractions of the time */
    double last_t, last_mpi;
    bool on;
};

/* Starts ON.
 *   interval_s  look again when so much time has passed, not before
 *   high, low   0..1; a low above high is taken for high
 *   now, mpi    seconds, as below */
void aspx_predict_init(struct aspx_predict *p, double interval_s, double high,
                       double low, double now, double mpi);

/* The wish from now on; true = ON, redirect.
 *   now  seconds of any clock that does not go back
 *   mpi  seconds that this process has been inside MPI up to now, the running
 *        call included (aspx_profile_mpi_seconds()) */
bool aspx_predict_update(struct aspx_predict *p, double now, double mpi);

#endif
