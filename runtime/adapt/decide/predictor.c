/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "predictor.h"

enum { KEPT = ASPX_PREDICT_LOOKS + 1 };

/* Clocks are read a little late now and then. */
static const double slack = 0.02;

static void keep(struct aspx_predict *p, double now, double mpi)
{
    p->t[p->looks % KEPT] = now;
    p->mpi[p->looks % KEPT] = mpi;
    p->looks++;
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

/* Seconds since the look that was `back` looks before the last one. */
static double since(const struct aspx_predict *p, uint32_t back, double now)
{
    return now - p->t[(p->looks - 1 - back) % KEPT];
}

bool aspx_predict_due(const struct aspx_predict *p, double now)
{
    double passed = since(p, 0, now);

    return passed > 0 &&
           passed >= p->interval_s * (1 - slack) / ASPX_PREDICT_LOOKS;
}

bool aspx_predict_update(struct aspx_predict *p, double now, double mpi)
{
    double interval_s = p->interval_s * (1 - slack);
    uint32_t most = p->looks < KEPT ? p->looks : KEPT, back = 0;
    double passed;

    if (!aspx_predict_due(p, now))
        return p->on;
    while (back + 1 < most && since(p, back, now) < interval_s)
        back++;
    passed = since(p, back, now);
    if (passed >= interval_s) {
        p->share = (mpi - p->mpi[(p->looks - 1 - back) % KEPT]) / passed;
        if (p->share > 1) /* samples may stand for a little too much */
            p->share = 1;
        if (p->share > p->high)
            p->on = false;
        else if (p->share < p->low)
            p->on = true;
    }
    keep(p, now, mpi);
    return p->on;
}
