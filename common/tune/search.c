/* SPDX-License-Identifier: BSD-3-Clause */
/* The search of one key: its beginning, its rounds, and what a call tries. What
 * follows from an agreement is in search_agree.c, the proof in search_proof.c,
 * what comes after the choice in search_watch.c, the account in search_sum.c.
 */
#include "search.h"

#include "search_parts.h"

#include <float.h>
#include <string.h>

const struct asp_search_effort asp_search_online = {
    .budget_us = 1e6, /* the default of coll.budget_ms */
    .agree_us = 10,   /* where no model says it */
    .margin = 1.10,
    .confirm = 1.03,
    .spread = 3,
    .loss_calls = 40, /* 1,000 calls: at most 4 % over the default */
    .few = 4,
    .repeats = 1,
    .finals = 1,
    .window = 32,
    .window_max = 1 << 16,
};

const struct asp_search_effort asp_search_explicit = {
    .budget_us = DBL_MAX,
    .agree_us = 0,
    .margin = 1.10,
    .confirm = 1.01,
    .spread = DBL_MAX,
    .loss_calls = DBL_MAX,
    .few = UINT32_MAX - 1,
    .repeats = 5,
    .finals = 5,
    .window = 0,
};

enum {
    /* Trials that take this many agreements are agreed one by one. */
    AGREE_EACH = 8,
    STRANGE_MAX = 64, /* calls of other sizes in a row: begin with that size */
    MOVES_MAX = 4,
};

/* Is anybody left that could take its place? */
static bool has_rival(const struct asp_search *s)
{
    for (uint32_t i = 0; i < s->ntries; i++)
        if (i != s->chosen && !s->tries[i].out)
            return true;
    return false;
}

void asp_search_settle(struct asp_search *s, enum asp_search_end end,
                       uint32_t chosen)
{
    bool watch;

    s->switches += s->phase != ASP_SEARCH_WATCH && s->repeated > 0 &&
                   chosen != s->held;
    s->chosen = chosen;
    s->end = end;
    watch = end == ASP_SEARCH_CHOSEN && s->effort.window > 0 && has_rival(s);
    s->phase = watch ? ASP_SEARCH_WATCH : ASP_SEARCH_FIXED;
    if (watch)
        asp_watch_start(s);
}

void asp_search_propose(struct asp_search *s, enum asp_search_end end,
                        uint32_t chosen)
{
    s->promised_us = 0;
    if (chosen == s->standard) {
        asp_search_settle(s, end, chosen);
        return;
    }
    s->chosen = chosen;
    s->proposed = end;
    asp_proof_start(s);
}

/* ---- rounds ---- */

static bool is_in_round(const struct asp_search *s, uint32_t i)
{
    const struct asp_search_try *try = &s->tries[i];

    switch (s->phase) {
    case ASP_SEARCH_CHECK:
        return i == s->standard;
    case ASP_SEARCH_FIRST:
        return i != s->standard;
    case ASP_SEARCH_MEASURE:
        return !try->out;
    case ASP_SEARCH_FINAL:
        return i == s->chosen || i == s->second;
    case ASP_SEARCH_PROOF:
    case ASP_SEARCH_WATCH:
    case ASP_SEARCH_FIXED:
        break;
    }
    return false;
}

void asp_search_begin_round(struct asp_search *s, enum asp_search_phase phase)
{
    uint32_t repeats = phase == ASP_SEARCH_MEASURE ? s->effort.repeats
                       : phase == ASP_SEARCH_FINAL ? s->effort.finals
                                                   : 1;

    s->phase = phase;
    s->places = 0;
    for (uint32_t i = 0; i < s->ntries; i++)
        if (is_in_round(s, i))
            s->tries[s->places++].place = i;
    s->turns = s->places * repeats;
    s->turn = s->nbatch = 0;
    s->planned_us = 0;
}

/* Which try is the turn of. */
uint32_t asp_search_at_turn(const struct asp_search *s)
{
    return s->tries[s->turn % s->places].place;
}

/* Past candidates that were dropped during the round. */
void asp_search_skip_dropped(struct asp_search *s)
{
    while (s->turn < s->turns && s->tries[asp_search_at_turn(s)].out)
        s->turn++;
}

/* Begin anew with calls of this size. */
static void begin(struct asp_search *s, uint64_t bytes)
{
    s->bytes = bytes;
    s->strange = 0;
    for (uint32_t i = 0; i < s->ntries; i++) {
        s->tries[i].best_us = 0;
        s->tries[i].calls = 0;
        s->tries[i].out = s->tries[i].refuted = false;
    }
    asp_search_begin_round(s, ASP_SEARCH_CHECK);
}

/* They are warm: a call of each is as good as any other. */
void asp_search_repeat(struct asp_search *s)
{
    s->repeated++;
    s->held = s->chosen;
    s->end = ASP_SEARCH_GOES_ON;
    for (uint32_t i = 0; i < s->ntries; i++) {
        s->tries[i].best_us = 0;
        s->tries[i].calls = !s->tries[i].out;
        s->tries[i].refuted = false;
    }
    asp_search_begin_round(s, ASP_SEARCH_CHECK);
}

/* ---- the beginning ---- */

static void take(struct asp_search *s, const struct asp_search_candidate *from,
                 uint32_t rank)
{
    uint64_t bits; /* all of them: what is planned depends on it */

    s->tries[s->ntries++] = (struct asp_search_try){
        .config = from->config,
        .rank = rank,
        .predicted_us = from->predicted_us};
    memcpy(&bits, &from->predicted_us, sizeof(bits));
    s->seed = asp_search_mix(s->seed, from->config);
    s->seed = asp_search_mix(s->seed, rank);
    s->seed = asp_search_mix(s->seed, bits);
}

void asp_search_start(struct asp_search *search, struct asp_search_try *tries,
                      uint32_t capacity, const struct asp_search_effort *effort,
                      const struct asp_search_candidate *candidates, uint32_t n,
                      uint32_t standard, uint64_t seed)
{
    struct asp_search *s = search;
    double limit = candidates[0].predicted_us * effort->spread;
    uint32_t others = 0;

    memset(s, 0, sizeof(*s));
    s->effort = *effort;
    s->tries = tries;
    s->seed = seed;
    s->candidates = n;
    for (uint32_t i = 0; i < n; i++) {
        if (i == standard)
            s->standard = s->ntries;
        else if (others >= effort->few || others + 1 >= capacity ||
                 candidates[i].predicted_us > limit)
            continue;
        else
            others++;
        take(s, &candidates[i], i + 1);
    }
    begin(s, UINT64_MAX);
    if (!(effort->budget_us > 0))
        asp_search_settle(s, ASP_SEARCH_VETO, s->standard);
    else if (s->ntries == 1)
        asp_search_settle(s, ASP_SEARCH_ALONE, s->standard);
}

/* Its times are in the place of the model's, which decide nothing here. */
void asp_search_resume(struct asp_search *search, struct asp_search_try *tries,
                       const struct asp_search_effort *effort,
                       const struct asp_search_known *known, uint32_t standard,
                       uint64_t seed)
{
    struct asp_search *s = search;
    const struct asp_search_candidate both[] = {
        {standard, 1 + known->default_us}, {known->config, 1 + known->best_us}};
    bool other = known->config != standard;

    asp_search_start(s, tries, 2, effort, both, other ? 2 : 1, 0, seed);
    s->resumed = true;
    if (s->end == ASP_SEARCH_VETO)
        return;
    s->bytes = known->bytes;
    tries[0].best_us = known->default_us;
    tries[s->ntries - 1].best_us = known->best_us;
    tries[s->ntries - 1].rank = known->rank;
    s->promised_us = known->promised_us;
    if (known->proving && other) {
        asp_search_propose(s, ASP_SEARCH_CHOSEN, s->ntries - 1);
        s->proof = known->proof;
        return;
    }
    asp_search_settle(s, ASP_SEARCH_CHOSEN, s->ntries - 1);
}

/* ---- a call ---- */

/* Is it a call of the size of our trials? All ranks see the same. */
static bool is_our_size(struct asp_search *s, uint64_t bytes)
{
    if (s->bytes == UINT64_MAX)
        s->bytes = bytes;
    if (s->bytes == bytes) {
        s->strange = 0;
        return true;
    }
    if (s->phase == ASP_SEARCH_WATCH || ++s->strange < STRANGE_MAX)
        return false;
    if (++s->moves > MOVES_MAX) {
        asp_search_settle(s, ASP_SEARCH_SIZES, s->standard);
        return false;
    }
    begin(s, bytes);
    return true;
}

/* What a trial will take, as far as all know. */
static double expect(const struct asp_search *s,
                     const struct asp_search_try *try)
{
    return try->best_us > 0 ? try->best_us : asp_search_predict(s, try);
}

/* Would this trial spend more than the budget? */
bool asp_search_is_beyond(const struct asp_search *s, uint32_t i)
{
    return i != s->standard &&
           s->charged_us + s->planned_us + expect(s, &s->tries[i]) >
               s->effort.budget_us;
}

static bool ends_batch(const struct asp_search *s, double us)
{
    return s->turn == s->turns || s->nbatch == ASP_SEARCH_TIMES ||
           us >= AGREE_EACH * s->effort.agree_us;
}

struct asp_search_step asp_search_time(struct asp_search *s, uint32_t config,
                                       uint32_t slot, bool last)
{
    s->times[slot] = ASP_SEARCH_NO_TIME;
    s->slot = slot;
    s->awaits = true;
    s->due = last;
    return (struct asp_search_step){
        .config = s->tries[config].config, .timed = true, .agree = last};
}

static struct asp_search_step take_turn(struct asp_search *s)
{
    uint32_t i = asp_search_at_turn(s);
    double us = expect(s, &s->tries[i]);
    struct asp_search_step step;

    /* Not beyond the budget: first see what the trials so far have cost. */
    if (asp_search_is_beyond(s, i)) {
        s->due = true;
        return (struct asp_search_step){.config = s->tries[s->standard].config,
                                        .agree = true};
    }
    if (i != s->standard)
        s->planned_us += us;
    s->batch[s->nbatch++] = i;
    s->trials++;
    s->turn++;
    asp_search_skip_dropped(s);
    step = asp_search_time(s, i, s->nbatch - 1, ends_batch(s, us));
    step.trial = true;
    return step;
}

struct asp_search_step asp_search_next(struct asp_search *s, uint64_t bytes)
{
    struct asp_search_step step = {.config = s->tries[s->standard].config};
    bool ours;

    s->awaits = false;
    if (s->phase == ASP_SEARCH_FIXED || s->phase == ASP_SEARCH_WATCH)
        step.config = s->tries[s->chosen].config;
    if (s->phase == ASP_SEARCH_FIXED)
        return step;
    s->calls++;
    step.agree = s->due;
    if (s->due)
        return step;
    ours = is_our_size(s, bytes);
    if (s->phase == ASP_SEARCH_WATCH)
        return asp_watch_next(s, ours);
    if (!ours)
        return step;
    return s->phase == ASP_SEARCH_PROOF ? asp_proof_next(s) : take_turn(s);
}

uint32_t asp_search_rest(const struct asp_search *s)
{
    if (s->phase == ASP_SEARCH_FIXED)
        return UINT32_MAX;
    return s->phase == ASP_SEARCH_WATCH && !s->due ? s->rest : 0;
}

void asp_search_pass(struct asp_search *s, uint32_t calls)
{
    s->calls += calls;
    if (s->phase == ASP_SEARCH_WATCH)
        s->rest -= calls;
}

void asp_search_note(struct asp_search *s, double local_us)
{
    if (!s->awaits || !(local_us >= 0) || local_us >= ASP_SEARCH_NO_TIME)
        return;
    s->awaits = false;
    s->times[s->slot] = local_us;
}
