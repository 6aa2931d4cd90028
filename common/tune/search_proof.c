/* SPDX-License-Identifier: BSD-3-Clause */
/* Is a configuration faster than MPI's own choice, or did it only look so in a
 * few trials? Windows of calls in which both take turns of four, so that most
 * calls follow one of their own kind; the first of each turn does not count.
 * Turns begin with the default in one window and with the configuration in the
 * next.
 *
 * The test is that of Wilcoxon (1945), Mann and Whitney (1947), which asks only
 * which of two times is the longer one, so that calls that were disturbed have
 * no weight: over all pairs of a time of the default and one of the
 * configuration, how often is the default's longer, by more than what may not
 * count? The sums over all windows so far are held against their standard
 * deviation (without a difference: 0 and nm(n + m + 1) / 3, for a lead counted
 * in halves). Taken at +2.51 of it, the bound for eight looks of Pocock (1977):
 * a configuration that is not faster by what counts is taken in 2.5 % of
 * proofs, at the most. Given up at -1, and after the eighth window.
 *
 * A window costs less than as many calls of the default if the configuration is
 * faster. */
#include "search_parts.h"

enum {
    TURN = 4,
    WINDOW = 2 * ASP_PROOF_TIMES * TURN / (TURN - 1), /* calls */
    WINDOWS_MAX = 8,
    TIMES_LEAST = ASP_PROOF_TIMES / 2, /* of each, else a window is void */
    TAKEN = 631,                       /* 2.51 squared, in hundredths */
    GIVEN_UP = 100,
};

/* A configuration is taken if it is faster by more than this part of its time,
 * and this many us: what two readings of a clock cannot tell apart, and what it
 * costs to set out on a configuration that is not MPI's. */
static const double part = 0.02, clock_us = 0.05;

static void open_window(struct asp_search *s)
{
    s->turn = 0;
    s->turns = WINDOW;
}

void asp_proof_start(struct asp_search *s)
{
    s->phase = ASP_SEARCH_PROOF;
    s->nbatch = 0;
    s->proof = (struct asp_proof){0};
    open_window(s);
}

struct asp_search_step asp_proof_next(struct asp_search *s)
{
    uint32_t at = s->turn++, turn = at / TURN;
    bool own = (turn + s->proof.windows) % 2;
    uint32_t config = own ? s->chosen : s->standard;

    if (at % TURN == 0)
        return (struct asp_search_step){.config = s->tries[config].config};
    return asp_search_time(s, config,
                           own * ASP_PROOF_TIMES + turn / 2 * (TURN - 1) +
                               at % TURN - 1,
                           s->turn == s->turns);
}

uint32_t asp_search_sort(const double *times, uint32_t n, double *sorted)
{
    uint32_t found = 0;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = found;

        if (!(times[i] < ASP_SEARCH_NO_TIME))
            continue;
        for (; at > 0 && sorted[at - 1] > times[i]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = times[i];
        found++;
    }
    return found;
}

/* The lead of one window. */
static void compare(struct asp_proof *proof, const double *standard, uint32_t n,
                    const double *own, uint32_t m)
{
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < m; j++) {
            double us = own[j] * (1 + part) + clock_us;

            proof->lead += (standard[i] > us) - (standard[i] < us);
        }
    proof->spread += (int64_t) n * m * (n + m + 1) / 3;
}

/* The best that looked faster than the default in its trials, and was not
 * refuted; the default: there is none. */
static uint32_t next(const struct asp_search *s)
{
    uint32_t best = s->standard;

    for (uint32_t i = 0; i < s->ntries; i++) {
        const struct asp_search_try *try = &s->tries[i];

        if (!try->out && !try->refuted && try->calls > 1 &&
            try->best_us < s->tries[best].best_us)
            best = i;
    }
    return best;
}

static void refute(struct asp_search *s, double standard_us)
{
    uint32_t other;

    s->tries[s->chosen].refuted = true;
    other = next(s);
    s->chosen = other;
    if (other != s->standard) {
        asp_proof_start(s);
        return;
    }
    s->promised_us = standard_us;
    asp_search_settle(s, s->proposed, s->standard);
}

static void take(struct asp_search *s, double standard_us, double own_us)
{
    s->tries[s->standard].best_us = standard_us;
    s->tries[s->chosen].best_us = own_us;
    s->promised_us = own_us;
    asp_search_settle(s, s->proposed, s->chosen);
}

void asp_proof_agreed(struct asp_search *s, const double *values)
{
    double standard[ASP_PROOF_TIMES], own[ASP_PROOF_TIMES];
    uint32_t n = asp_search_sort(values, ASP_PROOF_TIMES, standard);
    uint32_t m = asp_search_sort(values + ASP_PROOF_TIMES, ASP_PROOF_TIMES,
                                 own);
    struct asp_proof *proof = &s->proof;
    int64_t square;

    proof->windows++;
    if (n >= TIMES_LEAST && m >= TIMES_LEAST)
        compare(proof, standard, n, own, m);
    square = 100 * proof->lead * proof->lead;
    if (proof->lead > 0 && square >= TAKEN * proof->spread)
        take(s, standard[n / 2], own[m / 2]);
    else if (proof->windows == WINDOWS_MAX ||
             (proof->lead < 0 && square >= GIVEN_UP * proof->spread))
        refute(s, n ? standard[n / 2] : 0);
    else
        open_window(s);
}
