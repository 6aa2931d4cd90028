/* SPDX-License-Identifier: BSD-3-Clause */
/* What operations on windows cost the ranks that issue them, with ghosts and
 * without: a prediction from a demand (workload.h), before anything is tried.
 *
 * With ghosts an operation takes as long as a ghost handles it, and queues
 * behind others when the ghosts are busy. Without, the target handles it, at
 * the same price, but everything that waits for an answer waits until the
 * target is in MPI. Prices are measured (bench/handling) and corrected while
 * the program runs by what its ghosts take. Of the way that operations go
 * already no more is believed than ranks were seen to wait in MPI for anything.
 * Pure. */
#ifndef ASPEN_RUNTIME_ADAPT_DECIDE_COST_H
#define ASPEN_RUNTIME_ADAPT_DECIDE_COST_H

#include "workload.h"

enum aspx_cheaper {
    ASPX_CHEAPER_NEITHER, /* hardly a difference */
    ASPX_CHEAPER_GHOSTS,
    ASPX_CHEAPER_TARGETS,
};

struct aspx_cost {
    double scale; /* measured prices over those of the table; 1 at first */
};

struct aspx_forecast {
    enum aspx_cheaper cheaper;
    /* Seconds that the operations of one second keep an average rank. */
    double with_s, without_s;
    double load; /* of the ghosts, if they carry out all */
};

/* Ghosts have carried out some: correct the prices. */
void aspx_cost_learn(struct aspx_cost *cost,
                     const struct aspx_workload *workload);

struct aspx_forecast aspx_cost_forecast(const struct aspx_cost *cost,
                                        const struct aspx_workload *workload);

#endif
