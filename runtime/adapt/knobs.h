/* SPDX-License-Identifier: BSD-3-Clause */
/* Knobs of adaptation, as numbers; the policy has checked them. */
#ifndef ASPEN_RUNTIME_ADAPT_KNOBS_H
#define ASPEN_RUNTIME_ADAPT_KNOBS_H

#include "common/layout/layout.h"

#include <stdlib.h>

static inline double aspx_knob(const struct asp_layout *layout,
                               const char *knob, const char *otherwise)
{
    return strtod(asp_layout_knob(layout, knob, otherwise), NULL);
}

static inline double aspx_knob_interval_s(const struct asp_layout *layout)
{
    return aspx_knob(layout, "adapt.interval_ms", "1000") / 1000;
}

static inline double aspx_knob_interval_min_s(const struct asp_layout *layout)
{
    return aspx_knob(layout, "adapt.interval_min_ms", "20") / 1000;
}

/* Shares of the time, 0..1. */
static inline double aspx_knob_high(const struct asp_layout *layout)
{
    return aspx_knob(layout, "adapt.high", "90") / 100;
}

static inline double aspx_knob_low(const struct asp_layout *layout)
{
    return aspx_knob(layout, "adapt.low", "85") / 100;
}

#endif
