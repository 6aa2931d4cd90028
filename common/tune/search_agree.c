/* SPDX-License-Identifier: BSD-3-Clause */
/* The search of one key: what ranks tell each other in an agreement, and what
 * follows from it. */
#include "search_parts.h"

#include <float.h>

enum {
    FAR = 8,    /* times the least of the first calls: dropped */
    BEHIND = 4, /* likewise of measured calls */
    /* What a first call may pay for connections that it is the first to use, in
     * us: an end point of UCX is made in less over the networks we know. */
    COLD_US = 5000,
    BLIND_MAX = 4, /* void trials */
};

/* Of all that decides, in 52 bits, which a double holds. */
static double stamp(const struct asp_search *s)
{
    const uint64_t parts[] = {
        s->phase,    s->chosen,  s->second,        s->places,
        s->turns,    s->turn,    s->nbatch,        s->bytes,
        s->strange,  s->moves,   s->proof.windows, (uint64_t) s->proof.lead,
        s->window,   s->rest,    s->calls,         s->trials,
        s->switches, s->repeated};
    uint64_t hash = s->seed;

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        hash = asp_search_mix(hash, parts[i]);
    return (double) (hash >> 12);
}

void asp_search_values(const struct asp_search *s,
                       double values[ASP_SEARCH_VALUES])
{
    uint32_t n = s->phase == ASP_SEARCH_PROOF   ? ASP_SEARCH_TIMES
                 : s->phase == ASP_SEARCH_WATCH ? ASP_PROOF_TIMES
                                                : s->nbatch;

    for (uint32_t i = 0; i < ASP_SEARCH_VALUES; i++)
        values[i] = i < n ? s->times[i] : 0;
    values[ASP_SEARCH_TIMES] = stamp(s);
    values[ASP_SEARCH_TIMES + 1] = -values[ASP_SEARCH_TIMES];
}

/* The candidate with the least time, of those that may be chosen; not
 * `other`. Returns ntries when there is none. */
uint32_t asp_search_best(const struct asp_search *s, uint32_t other)
{
    uint32_t best = s->ntries;

    for (uint32_t i = 0; i < s->ntries; i++) {
        const struct asp_search_try *try = &s->tries[i];

        if (i != other && !try->out && try->best_us > 0 &&
            (try->calls > 1 || i == s->standard) &&
            (best == s->ntries || try->best_us < s->tries[best].best_us))
            best = i;
    }
    return best;
}

/* What is to be used from now on, when the default must be beaten by this. */
static uint32_t choice(const struct asp_search *s, double margin)
{
    uint32_t best = asp_search_best(s, s->ntries);
    const struct asp_search_try *standard = &s->tries[s->standard];

    if (best == s->ntries || !(standard->best_us > 0) ||
        standard->best_us < margin * s->tries[best].best_us)
        return s->standard;
    return best;
}

/* An agreed time of a trial. */
static void reduce(struct asp_search *s, struct asp_search_try *try, double us)
{
    const struct asp_search_try *standard = &s->tries[s->standard];

    if (!(us < ASP_SEARCH_NO_TIME)) {
        s->blind++;
        return;
    }
    s->spent_us += us;
    if (try != standard)
        s->charged_us += us;
    try->calls++;
    if (try->best_us == 0 || us < try->best_us)
        try->best_us = us > 0 ? us : DBL_MIN;
    if (s->phase == ASP_SEARCH_FIRST)
        us -= COLD_US;
    if (us > standard->best_us && try != standard)
        s->loss_us += us - standard->best_us;
}

/* After first calls: one that is so long that no connection explains it, or far
 * longer than the others' and the default's. */
static bool is_far(const struct asp_search *s, const struct asp_search_try *try)
{
    double standard = s->tries[s->standard].best_us, least = DBL_MAX;

    for (uint32_t i = 0; i < s->ntries; i++)
        if (i != s->standard && s->tries[i].calls > 0 &&
            s->tries[i].best_us < least)
            least = s->tries[i].best_us;
    return try->best_us > BEHIND * standard + COLD_US ||
           (try->best_us > FAR * standard && try->best_us > FAR * least);
}

static void drop(struct asp_search *s)
{
    uint32_t best = asp_search_best(s, s->ntries);

    for (uint32_t i = 0; i < s->ntries; i++) {
        struct asp_search_try *try = &s->tries[i];

        if (i == s->standard || try->calls == 0)
            continue;
        if (s->phase == ASP_SEARCH_FIRST)
            try->out = try->out || is_far(s, try);
        else if (s->phase == ASP_SEARCH_MEASURE && try->calls > 1 &&
                 best < s->ntries)
            try->out = try->best_us > BEHIND * s->tries[best].best_us;
    }
}

/* The best of MEASURE, and whom it must be told from: the default, unless that
 * is beaten already, else the next best. */
static void begin_final(struct asp_search *s)
{
    uint32_t best = asp_search_best(s, s->ntries);

    s->chosen = best;
    s->second = s->standard;
    if (best == s->standard || choice(s, s->effort.margin) == best)
        s->second = asp_search_best(s, best);
    if (s->second == s->ntries) /* all others were dropped */
        asp_search_settle(s, ASP_SEARCH_CHOSEN, s->standard);
    else
        asp_search_begin_round(s, ASP_SEARCH_FINAL);
}

static void end_round(struct asp_search *s)
{
    switch (s->phase) {
    case ASP_SEARCH_CHECK:
        asp_search_begin_round(s, s->repeated ? ASP_SEARCH_MEASURE
                                              : ASP_SEARCH_FIRST);
        break;
    case ASP_SEARCH_FIRST:
        asp_search_begin_round(s, ASP_SEARCH_MEASURE);
        break;
    case ASP_SEARCH_MEASURE:
        begin_final(s);
        break;
    case ASP_SEARCH_FINAL:
        asp_search_propose(s, ASP_SEARCH_CHOSEN, choice(s, s->effort.confirm));
        break;
    case ASP_SEARCH_PROOF:
    case ASP_SEARCH_WATCH:
    case ASP_SEARCH_FIXED:
        break;
    }
}

static void agree_on_trials(struct asp_search *s, const double *values)
{
    double standard;

    for (uint32_t i = 0; i < s->nbatch; i++)
        reduce(s, &s->tries[s->batch[i]], values[i]);
    s->nbatch = 0;
    s->planned_us = 0;
    drop(s);
    asp_search_skip_dropped(s);
    standard = s->tries[s->standard].best_us;
    if (s->blind > BLIND_MAX)
        asp_search_settle(s, ASP_SEARCH_BLIND, s->standard);
    else if (s->charged_us >= s->effort.budget_us ||
             (s->turn < s->turns &&
              asp_search_is_beyond(s, asp_search_at_turn(s))))
        asp_search_propose(s, ASP_SEARCH_BUDGET, choice(s, s->effort.margin));
    else if (s->loss_us > s->effort.loss_calls * standard)
        asp_search_propose(s, ASP_SEARCH_LOSS, choice(s, s->effort.margin));
    else if (s->turn == s->turns)
        end_round(s);
}

void asp_search_agreed(struct asp_search *s,
                       const double values[ASP_SEARCH_VALUES])
{
    s->due = false;
    s->agreements++;
    if (values[ASP_SEARCH_TIMES] != stamp(s) ||
        values[ASP_SEARCH_TIMES + 1] != -values[ASP_SEARCH_TIMES])
        asp_search_settle(s, ASP_SEARCH_MISMATCH, s->standard);
    else if (s->phase == ASP_SEARCH_PROOF)
        asp_proof_agreed(s, values);
    else if (s->phase == ASP_SEARCH_WATCH)
        asp_watch_agreed(s, values);
    else if (s->phase != ASP_SEARCH_FIXED)
        agree_on_trials(s, values);
}
