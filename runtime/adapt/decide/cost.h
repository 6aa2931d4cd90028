/* SPDX-License-Identifier: BSD-3-Clause */
/* What operations on windows cost the ranks that issue them, with ghosts and
 * without: a prediction from a demand (workload.h), before anything is tried.
 *
 * With ghosts an operation takes as long as a ghost handles it, and queues
 * behind others when the ghosts are busy. Without, the target handles it, at
 * the same price, but everything that waits for an answer waits until the
 * target is in MPI. Prices are measured (bench/handling) and corrected, while
 * the program runs, by the time its ghosts take. The price of the way that
 * operations take now is bounded by the time for which ranks really waited in
 * MPI. Pure. */
#ifndef ASPEN_RUNTIME_ADAPT_DECIDE_COST_H
#define ASPEN_RUNTIME_ADAPT_DECIDE_COST_H

#include "workload.h"

enum aspx_cheaper {
    ASPX_CHEAPER_NEITHER, /* they hardly differ */
    ASPX_CHEAPER_GHOSTS,
    ASPX_CHEAPER_TARGETS,
};

struct aspx_cost {
    double scale; /* what ghosts took, over the prices of the table; begins as
                     1 */
};

struct aspx_forecast {
    enum aspx_cheaper cheaper;
    /* Seconds that an average rank spends on its operations of one second. */
    double with_s, without_s;
    double load; /* share of the time at work of ghosts that handle all */
};

/* Correct the prices by what ghosts took for the operations they handled. */
void aspx_cost_learn(struct aspx_cost *cost,
                     const struct aspx_workload *workload);

struct aspx_forecast aspx_cost_forecast(const struct aspx_cost *cost,
                                        const struct aspx_workload *workload);

#endif
