/* SPDX-License-Identifier: BSD-3-Clause */
/* Medians, quotients and the Mann-Whitney distribution; stat.h. */
#include "config.h"

#include "stat.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double confidence_least = 0.95;
static const double same_within = 0.05; /* wider than this is no answer */
static const double trifle = 0.005;     /* nobody asks for less than that */

static int by_size(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;

    return (x > y) - (x < y);
}

static double middle(const double *sorted, size_t n)
{
    return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
}

double aspt_median(const double *values, size_t n)
{
    double sorted[ASPT_RUNS_MAX];

    if (n > ASPT_RUNS_MAX)
        n = ASPT_RUNS_MAX;
    memcpy(sorted, values, n * sizeof(*sorted));
    qsort(sorted, n, sizeof(*sorted), by_size);
    return middle(sorted, n);
}

void aspt_ends(const double *values, size_t n, double *least_p, double *most_p)
{
    *least_p = *most_p = values[0];
    for (size_t i = 1; i < n; i++) {
        if (values[i] < *least_p)
            *least_p = values[i];
        if (values[i] > *most_p)
            *most_p = values[i];
    }
}

/* In how many of all orders of n + m values the statistic is u, for u up to
 * the length of counts: the coefficients of
 *     product of (1 - q^(m+i)) / (1 - q^i), i = 1..n.
 * Those that matter are small and exact; the last ones are good enough. */
static void mann_whitney(size_t n, size_t m, double *counts, size_t length)
{
    memset(counts, 0, length * sizeof(*counts));
    counts[0] = 1;
    for (size_t i = 1; i <= n; i++) {
        for (size_t u = length; u-- > m + i;)
            counts[u] -= counts[u - m - i];
        for (size_t u = i; u < length; u++)
            counts[u] += counts[u - i];
    }
}

/* How many quotients to leave out at either end, so that what is between holds
 * the true one with the confidence wanted. Returns that confidence, 0 if even
 * all quotients are too few. */
static double trim(size_t n, size_t m, size_t *out_p)
{
    static double counts[ASPT_RUNS_MAX * ASPT_RUNS_MAX / 2 + 1];
    double all = 1, tail = 0;
    size_t u, length = n * m / 2 + 1;

    for (size_t i = 1; i <= n; i++)
        all *= (double) (m + i) / (double) i;
    mann_whitney(n, m, counts, length);
    for (u = 0; u < length; u++) {
        if (2 * (tail + counts[u]) / all > 1 - confidence_least)
            break;
        tail += counts[u];
    }
    *out_p = u - 1; /* not used when u is 0 */
    return u == 0 ? 0 : 1 - 2 * tail / all;
}

static bool is_within(const struct aspt_effect *effect, double distance)
{
    return 1 - effect->low <= distance && effect->high - 1 <= distance;
}

static enum aspt_verdict judge(const struct aspt_effect *effect)
{
    if (is_within(effect, trifle))
        return ASPT_SAME;
    if (effect->high < 1)
        return ASPT_HELPS;
    if (effect->low > 1)
        return ASPT_HURTS;
    return is_within(effect, same_within) ? ASPT_SAME : ASPT_UNCLEAR;
}

/* Of all pairs, sorted. Returns how many; pairs is static. */
static size_t pair_up(const double *with, size_t nwith, const double *without,
                      size_t nwithout, double (*pair)(double, double),
                      const double **pairs_p)
{
    static double pairs[ASPT_RUNS_MAX * ASPT_RUNS_MAX];
    size_t n = 0;

    for (size_t i = 0; i < nwith; i++)
        for (size_t j = 0; j < nwithout; j++)
            pairs[n++] = pair(with[i], without[j]);
    qsort(pairs, n, sizeof(*pairs), by_size);
    *pairs_p = pairs;
    return n;
}

static double quotient(double with, double without)
{
    return with / without;
}

static double difference(double with, double without)
{
    return without - with;
}

static bool is_enough(size_t nwith, size_t nwithout)
{
    return nwith >= ASPT_RUNS_MIN && nwith <= ASPT_RUNS_MAX &&
           nwithout >= ASPT_RUNS_MIN && nwithout <= ASPT_RUNS_MAX;
}

static void measure(const double *with, size_t nwith, const double *without,
                    size_t nwithout, struct aspt_effect *effect)
{
    const double *ratios;
    size_t out = 0;
    size_t n = pair_up(with, nwith, without, nwithout, quotient, &ratios);

    effect->confidence = trim(nwith, nwithout, &out);
    if (effect->confidence == 0)
        return;
    effect->ratio = middle(ratios, n);
    effect->low = ratios[out];
    effect->high = ratios[n - 1 - out];
    effect->verdict = judge(effect);
}

void aspt_saved_of(const double *with, size_t nwith, const double *without,
                   size_t nwithout, struct aspt_saved *out_p)
{
    struct aspt_saved saved = {.s = aspt_median(without, nwithout) -
                                    aspt_median(with, nwith)};
    const double *differences;
    size_t n, out = 0;

    if (is_enough(nwith, nwithout)) {
        n = pair_up(with, nwith, without, nwithout, difference, &differences);
        saved.confidence = trim(nwith, nwithout, &out);
        saved.s = middle(differences, n);
        saved.low = differences[out];
        saved.high = differences[n - 1 - out];
    }
    *out_p = saved;
}

void aspt_effect_of(const double *with, size_t nwith, const double *without,
                    size_t nwithout, struct aspt_effect *out_p)
{
    struct aspt_effect effect = {.verdict = ASPT_TOO_FEW};

    if (nwith && nwithout)
        effect.ratio = aspt_median(with, nwith) /
                       aspt_median(without, nwithout);
    if (is_enough(nwith, nwithout))
        measure(with, nwith, without, nwithout, &effect);
    *out_p = effect;
}

double aspt_effect_width(const struct aspt_effect *effect)
{
    return 100 *
           fmax(effect->high - effect->ratio, effect->ratio - effect->low);
}

const char *aspt_verdict_name(enum aspt_verdict verdict)
{
    static const char *const names[] = {
        [ASPT_HELPS] = "helps",     [ASPT_HURTS] = "hurts",
        [ASPT_SAME] = "same",       [ASPT_UNCLEAR] = "unclear",
        [ASPT_TOO_FEW] = "too few",
    };

    return names[verdict];
}

/* "between 3 % less and 8 % more time": the ends of the interval. */
static int print_end(char *buf, size_t size, double ratio)
{
    return snprintf(buf, size, "%.0f %% %s", 100 * fabs(ratio - 1),
                    ratio < 1 ? "less" : "more");
}

/* "helps 23 % +- 2"; "hurts, by 3.1 to 26.3 %" if the interval is as wide. */
static void print_change(const struct aspt_effect *effect, char *buf,
                         size_t size)
{
    double width = aspt_effect_width(effect);
    double change = 100 * fabs(effect->ratio - 1);
    double ends[] = {100 * fabs(effect->low - 1), 100 * fabs(effect->high - 1)};
    const char *name = aspt_verdict_name(effect->verdict);
    int digits = width < 0.95 || round(width) >= round(change);

    if (width < change)
        snprintf(buf, size, "%s %.*f %% +- %.*f", name, digits, change, digits,
                 width);
    else
        snprintf(buf, size, "%s, by %.1f to %.1f %%", name,
                 fmin(ends[0], ends[1]), fmax(ends[0], ends[1]));
}

const char *aspt_effect_print(const struct aspt_effect *effect, char *buf,
                              size_t size)
{
    double within = 100 * fmax(1 - effect->low, effect->high - 1);
    char low[32], high[32];

    switch (effect->verdict) {
    case ASPT_HELPS:
    case ASPT_HURTS:
        print_change(effect, buf, size);
        break;
    case ASPT_SAME:
        snprintf(buf, size, "no difference (within %.1f %%)", within);
        break;
    case ASPT_UNCLEAR:
        print_end(low, sizeof(low), effect->low);
        print_end(high, sizeof(high), effect->high);
        snprintf(buf, size, "unclear: between %s and %s time", low, high);
        break;
    case ASPT_TOO_FEW:
        snprintf(buf, size, "no verdict: too few runs");
        break;
    }
    return buf;
}
