/* SPDX-License-Identifier: BSD-3-Clause */
/* The account of a search, and a search that a caller drives to its end. */
#include "search.h"

#include "search_parts.h"

static const char *const ends[ASP_SEARCH_ENDS] = {
    [ASP_SEARCH_GOES_ON] = "goes_on",   [ASP_SEARCH_CHOSEN] = "chosen",
    [ASP_SEARCH_VETO] = "veto",         [ASP_SEARCH_ALONE] = "alone",
    [ASP_SEARCH_BUDGET] = "budget",     [ASP_SEARCH_LOSS] = "loss",
    [ASP_SEARCH_MISMATCH] = "mismatch", [ASP_SEARCH_SIZES] = "sizes",
    [ASP_SEARCH_BLIND] = "blind",       [ASP_SEARCH_RESTLESS] = "restless",
};

const char *asp_search_end_name(enum asp_search_end end)
{
    return ends[end];
}

/* The configuration of calls that are no trials. */
static uint32_t in_use(const struct asp_search *s)
{
    return s->phase == ASP_SEARCH_WATCH || s->phase == ASP_SEARCH_FIXED
               ? s->chosen
               : s->standard;
}

void asp_search_sum(const struct asp_search *search,
                    struct asp_search_sum *sum_p)
{
    const struct asp_search *s = search;
    const struct asp_search_try *used = &s->tries[in_use(s)];
    double standard_us = s->tries[s->standard].best_us;
    struct asp_search_sum sum = {
        .phase = s->phase,
        .end = s->end,
        .candidates = s->candidates,
        .trials = s->trials,
        .agreements = s->agreements,
        .switches = s->switches,
        .spent_us = s->spent_us,
        .best_us = used->best_us,
        .default_us = standard_us,
        .config = used->config,
        .model_rank = used->rank,
        .resumed = s->resumed,
    };

    for (uint32_t i = 0; i < s->ntries; i++)
        sum.tried += s->tries[i].calls > 0;
    if (used->best_us > 0 && standard_us > 0)
        sum.ratio = standard_us / used->best_us;
    *sum_p = sum;
}

bool asp_search_known(const struct asp_search *search,
                      struct asp_search_known *known_p)
{
    const struct asp_search *s = search;
    const struct asp_search_try *used = &s->tries[s->chosen];

    if (s->phase < ASP_SEARCH_PROOF || s->end == ASP_SEARCH_VETO ||
        s->end == ASP_SEARCH_MISMATCH || s->end == ASP_SEARCH_BLIND)
        return false;
    *known_p = (struct asp_search_known){
        .config = used->config,
        .rank = used->rank,
        .bytes = s->bytes,
        .best_us = used->best_us,
        .default_us = s->tries[s->standard].best_us,
        .promised_us = s->promised_us,
        .proving = s->phase == ASP_SEARCH_PROOF,
        .proof = s->proof,
    };
    return true;
}

int asp_search_drive(struct asp_search *search, asp_search_run_f run,
                     void *data)
{
    while (search->phase < ASP_SEARCH_WATCH) {
        struct asp_search_step step = asp_search_next(search, 0);
        double values[ASP_SEARCH_VALUES], us = run(data, step.config);

        if (us < 0)
            return -1;
        asp_search_note(search, us);
        if (step.agree) {
            asp_search_values(search, values);
            asp_search_agreed(search, values);
        }
    }
    return 0;
}
