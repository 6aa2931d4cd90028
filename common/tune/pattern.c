/* SPDX-License-Identifier: BSD-3-Clause */
/* Patterns of calls; see pattern.h. */
#include "pattern.h"

/* Of the calls of an epoch, on the rank that saw the most apart. */
static const double loose_below = 0.25, strict_above = 0.5;

void asp_pattern_start(struct asp_pattern *pattern)
{
    *pattern = (struct asp_pattern){.now = ASP_TUNE_STRICT,
                                    .epoch = ASP_PATTERN_FIRST};
}

bool asp_pattern_call(struct asp_pattern *pattern)
{
    return ++pattern->seen >= pattern->epoch;
}

/* Calls of the epoch before the first that is looked at. */
static uint32_t blind(const struct asp_pattern *pattern)
{
    return pattern->epoch - ASP_PATTERN_FIRST;
}

bool asp_pattern_looks(const struct asp_pattern *pattern)
{
    return pattern->seen > blind(pattern);
}

uint32_t asp_pattern_rest(const struct asp_pattern *pattern)
{
    uint32_t before = blind(pattern);

    return pattern->seen < before ? before - pattern->seen : 0;
}

void asp_pattern_pass(struct asp_pattern *pattern, uint32_t calls)
{
    pattern->seen += calls;
}

void asp_pattern_note(struct asp_pattern *pattern, double gap_us,
                      double last_us, bool separated)
{
    if (asp_pattern_looks(pattern) && !separated && gap_us >= 0 &&
        gap_us <= last_us)
        pattern->close++;
}

/* The share of calls that were not close: with MAX, of the rank that has the
 * most of them. The first of them follows none, as far as is known. */
double asp_pattern_value(const struct asp_pattern *pattern)
{
    return 1.0 - (double) pattern->close / (pattern->seen - blind(pattern));
}

void asp_pattern_agreed(struct asp_pattern *pattern, double value)
{
    enum asp_tune_pattern then = pattern->now;

    if (value <= loose_below)
        then = ASP_TUNE_LOOSE;
    else if (value > strict_above)
        then = ASP_TUNE_STRICT;
    if (then != pattern->now) {
        pattern->now = then;
        pattern->changes++;
        pattern->epoch = ASP_PATTERN_FIRST;
    } else if (pattern->epoch < ASP_PATTERN_MAX) {
        pattern->epoch *= 2;
    }
    pattern->seen = pattern->close = 0;
}
