/* SPDX-License-Identifier: BSD-3-Clause */
/* After the choice: is it the better one, and still? Windows of calls, in each
 * of which every rank takes a mean; the largest is agreed.
 *
 * A way that was chosen before the default was measured a few times only, so it
 * has the first window to prove itself: every other call uses the default, and
 * unless the mean is below the default's, that is the choice. Such a window
 * costs nothing over the default.
 *
 * Means are held against the runner-up's least time by a factor, the bias, that
 * the first window gives. */
#include "search_parts.h"

enum {
    /* A call that took longer than so many times the chosen way's least time
     * counts as that: one that was disturbed does not decide a window. */
    CLIP = 4,
    LAST_PART = 4,    /* the last quarter of a window */
    SWITCHES_MAX = 8, /* changes of place */
};

/* The bias is of what disturbs calls; more than this is a change of the
 * machine, which is not to be hidden. */
static const double bias_max = 1.25;

enum { WHOLE, LAST, RIVAL }; /* what is agreed */

static void open_window(struct asp_search *s, uint32_t calls)
{
    s->window = calls;
    s->seen = 0;
    s->whole = s->last = s->rival = 0;
    s->whole_us = s->last_us = s->rival_us = 0;
}

void asp_watch_start(struct asp_search *s)
{
    s->second = asp_search_best(s, s->chosen);
    s->proof = s->chosen != s->standard;
    if (s->second == s->ntries) /* nobody is left to take its place */
        s->phase = ASP_SEARCH_FIXED;
    else
        open_window(s, s->effort.window);
}

/* Is the present call of the window the default's? */
static bool is_rivals(const struct asp_search *s)
{
    return s->proof && s->seen % 2 == 0;
}

struct asp_search_step asp_watch_next(struct asp_search *s)
{
    uint32_t way;

    s->awaits = true;
    s->due = ++s->seen == s->window;
    way = is_rivals(s) ? s->standard : s->chosen;
    return (struct asp_search_step){
        .way = s->tries[way].way, .timed = true, .agree = s->due};
}

void asp_watch_note(struct asp_search *s, double local_us)
{
    uint32_t used = is_rivals(s) ? s->standard : s->chosen;
    double most = CLIP * s->tries[used].best_us;

    if (local_us > most)
        local_us = most;
    if (is_rivals(s)) {
        s->rival_us += local_us;
        s->rival++;
        return;
    }
    s->whole_us += local_us;
    s->whole++;
    if (s->window - s->seen < s->window / LAST_PART) {
        s->last_us += local_us;
        s->last++;
    }
}

static double mean(double us, uint32_t calls)
{
    return calls ? us / calls : ASP_SEARCH_NO_TIME;
}

void asp_watch_values(const struct asp_search *s, double *values)
{
    values[WHOLE] = mean(s->whole_us, s->whole);
    values[LAST] = mean(s->last_us, s->last);
    values[RIVAL] = s->proof ? mean(s->rival_us, s->rival) : 0;
}

/* Another becomes the chosen one; what is known of this is now how it did in
 * this window. */
static void change_places(struct asp_search *s, uint32_t other, double whole)
{
    uint32_t old = s->chosen;

    s->tries[old].best_us = whole / s->bias;
    s->chosen = other;
    s->second = old;
    if (++s->switches < SWITCHES_MAX)
        open_window(s, s->effort.window);
    else
        asp_search_settle(s, ASP_SEARCH_RESTLESS,
                          s->tries[s->chosen].best_us < s->tries[old].best_us
                              ? s->chosen
                              : old);
}

static void learn_bias(struct asp_search *s, double whole)
{
    double bias = whole / s->tries[s->chosen].best_us;

    s->bias = bias < 1 ? 1 : bias > bias_max ? bias_max : bias;
}

/* The first window of a way that is not the default. Returns whether it stays.
 */
static bool is_proven(struct asp_search *s, double whole, double rival)
{
    s->proof = false;
    s->tries[s->standard].best_us = rival / s->bias;
    if (whole < rival)
        return true;
    change_places(s, s->standard, whole);
    return false;
}

void asp_watch_agreed(struct asp_search *s, const double *values)
{
    double limit;
    uint32_t longer = s->window < s->effort.window_max / 2
                          ? s->window * 2
                          : s->effort.window_max;

    if (!(values[WHOLE] < ASP_SEARCH_NO_TIME) ||
        !(values[LAST] < ASP_SEARCH_NO_TIME) ||
        !(values[RIVAL] < ASP_SEARCH_NO_TIME)) {
        open_window(s, longer);
        return;
    }
    if (s->switches == 0 && s->window == s->effort.window)
        learn_bias(s, values[WHOLE]);
    if (s->proof && !is_proven(s, values[WHOLE], values[RIVAL]))
        return;
    limit = s->effort.margin * s->bias * s->tries[s->second].best_us;
    if (values[WHOLE] > limit && values[LAST] > limit)
        change_places(s, s->second, values[WHOLE]);
    else
        open_window(s, longer);
}
