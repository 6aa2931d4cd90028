/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "predict.h"

void aspx_predict_init(struct aspx_predict *p, double interval_s, double high,
                       double low, double now, double mpi)
{
    *p = (struct aspx_predict) {
        .interval_s = interval_s,
        .high = high,
        .low = low < high ? low : high,
        .last_t = now,
        .last_mpi = mpi,
        .on = true,
    };
}

bool aspx_predict_update(struct aspx_predict *p, double now, double mpi)
{
    double passed = now - p->last_t, frequency;

    if (passed <= 0 || passed < p->interval_s)
        return p->on;
    frequency = (mpi - p->last_mpi) / passed;
    if (frequency > p->high)
        p->on = false;
    else if (frequency < p->low)
        p->on = true;
    p->last_t = now;
    p->last_mpi = mpi;
    return p->on;
}
