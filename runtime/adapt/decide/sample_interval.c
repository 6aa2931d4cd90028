/* SPDX-License-Identifier: BSD-3-Clause */
/* The length of the predictor's interval: see sample_interval.h. */
#include "config.h"

#include "sample_interval.h"

#include "predictor.h"

/* Samples before the interval halves: 64 intervals. Where iterations are longer
 * than the shorter interval, one in 64 intervals is decided wrongly. */
enum { STEADY = 64 * ASPX_PREDICT_SAMPLES };

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
