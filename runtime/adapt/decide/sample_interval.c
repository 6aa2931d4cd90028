/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "sample_interval.h"

#include "predictor.h"

/* 64 intervals: so long that a program whose iterations are longer than the
 * interval does not pay for each of them. */
enum { STEADY = 64 * ASPX_PREDICT_LOOKS };

void aspx_sample_interval_init(struct aspx_sample_interval *interval,
                               double least_s, double most_s)
{
    *interval = (struct aspx_sample_interval){
        .least_s = least_s < most_s ? least_s : most_s,
        .most_s = most_s,
    };
    interval->interval_s = interval->least_s;
}

static double within(const struct aspx_sample_interval *interval,
                     double interval_s)
{
    if (interval_s < interval->least_s)
        return interval->least_s;
    return interval_s > interval->most_s ? interval->most_s : interval_s;
}

void aspx_sample_interval_update(struct aspx_sample_interval *interval,
                                 bool taken_back)
{
    if (taken_back) {
        interval->interval_s = within(interval, 2 * interval->interval_s);
        interval->steady = 0;
    } else if (++interval->steady == STEADY) {
        interval->interval_s = within(interval, interval->interval_s / 2);
        interval->steady = 0;
    }
}
