/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "sample_interval.h"

#include "predictor.h"

/* 64 intervals: so long that a program whose iterations are longer than the
 * interval does not pay for each of them. */
enum { CALM = 64 * ASPX_PREDICT_LOOKS };

void aspx_pace_init(struct aspx_pace *pace, double least_s, double most_s)
{
    *pace = (struct aspx_pace){
        .least_s = least_s < most_s ? least_s : most_s,
        .most_s = most_s,
    };
    pace->interval_s = pace->least_s;
}

static double within(const struct aspx_pace *pace, double interval_s)
{
    if (interval_s < pace->least_s)
        return pace->least_s;
    return interval_s > pace->most_s ? pace->most_s : interval_s;
}

void aspx_pace_after(struct aspx_pace *pace, bool taken_back)
{
    if (taken_back) {
        pace->interval_s = within(pace, 2 * pace->interval_s);
        pace->calm = 0;
    } else if (++pace->calm == CALM) {
        pace->interval_s = within(pace, pace->interval_s / 2);
        pace->calm = 0;
    }
}
