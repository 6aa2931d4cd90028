/* SPDX-License-Identifier: BSD-3-Clause */
/* After the choice: does it still take what was promised? Nothing is done in
 * most calls: rests double, and after each comes a sample of twelve calls,
 * whose times are agreed. Where three quarters of these are over the promise by
 * the margin, what is left of the candidates is measured again.
 *
 * A promise is the median of a proof, or of the first sample after it. */
#include "search_parts.h"

enum {
    SAMPLE = ASP_PROOF_TIMES,
    SLOW = 3, /* of so many quarters */
    QUARTERS = 4,
    REPEATED_MAX = 8,
};

static void begin_rest(struct asp_search *s)
{
    s->rest = s->window;
    s->turn = 0;
    s->turns = SAMPLE;
    s->nbatch = 0;
}

void asp_watch_start(struct asp_search *s)
{
    s->window = s->effort.window;
    begin_rest(s);
    if (s->promised_us == 0)
        s->rest = 0;
}

/* A call of another size has its place in a sample, but no time: all ranks
 * count alike, and a size that does not come back holds nothing up. */
struct asp_search_step asp_watch_next(struct asp_search *s, bool ours)
{
    struct asp_search_step step = {.config = s->tries[s->chosen].config};

    if (s->rest > 0) {
        s->rest--;
        return step;
    }
    step = asp_search_time(s, s->chosen, s->turn, s->turn + 1 == s->turns);
    s->turn++;
    s->awaits = step.timed = ours;
    return step;
}

void asp_watch_agreed(struct asp_search *s, const double *values)
{
    double sorted[SAMPLE];
    uint32_t n = asp_search_sort(values, SAMPLE, sorted);
    bool whole = n >= SAMPLE / 2;

    if (whole && s->promised_us > 0 &&
        sorted[n * (QUARTERS - SLOW) / QUARTERS] >
            s->effort.margin * s->promised_us) {
        if (s->repeated == REPEATED_MAX)
            asp_search_settle(s, ASP_SEARCH_RESTLESS, s->chosen);
        else
            asp_search_repeat(s);
        return;
    }
    if (whole && s->promised_us == 0)
        s->promised_us = sorted[n / 2];
    s->window = s->window < s->effort.window_max / 2 ? s->window * 2
                                                     : s->effort.window_max;
    begin_rest(s);
}
