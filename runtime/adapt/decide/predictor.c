/* SPDX-License-Identifier: BSD-3-Clause */
/* The share of the last interval that a process spent in MPI: predictor.h. */
#include "config.h"

#include "predictor.h"

enum { KEPT = ASPX_PREDICT_SAMPLES + 1 };

/* A sample may be early by this share of the time it should wait, because the
 * one before was a little late. */
static const double slack = 0.02;

static void keep(struct aspx_predict *p, double now, double mpi)
{
    p->t[p->samples % KEPT] = now;
    p->mpi[p->samples % KEPT] = mpi;
    p->samples++;
}

void aspx_predict_init(struct aspx_predict *p, double interval_s, double high,
                       double low, double now, double mpi)
{
    *p = (struct aspx_predict){
        .interval_s = interval_s,
        .high = high,
        .low = low < high ? low : high,
        .on = true,
    };
    keep(p, now, mpi);
}

/* Seconds since the sample that was `back` samples before the last one. */
static double since(const struct aspx_predict *p, uint32_t back, double now)
{
    return now - p->t[(p->samples - 1 - back) % KEPT];
}

bool aspx_predict_due(const struct aspx_predict *p, double now)
{
    double passed = since(p, 0, now);

    return passed > 0 &&
           passed >= p->interval_s * (1 - slack) / ASPX_PREDICT_SAMPLES;
}

bool aspx_predict_update(struct aspx_predict *p, double now, double mpi)
{
    double interval_s = p->interval_s * (1 - slack);
    uint32_t most = p->samples < KEPT ? p->samples : KEPT, back = 0;
    double passed;

    if (!aspx_predict_due(p, now))
        return p->on;
    while (back + 1 < most && since(p, back, now) < interval_s)
        back++;
    passed = since(p, back, now);
    if (passed >= interval_s) {
        p->share = (mpi - p->mpi[(p->samples - 1 - back) % KEPT]) / passed;
        if (p->share > 1) /* timed calls may stand for a little too much */
            p->share = 1;
        if (p->share > p->high)
            p->on = false;
        else if (p->share < p->low)
            p->on = true;
    }
    keep(p, now, mpi);
    return p->on;
}
