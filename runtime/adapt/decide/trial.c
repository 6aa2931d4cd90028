/* SPDX-License-Identifier: BSD-3-Clause */
/* How two orders compare: see trial.h. */
#include "config.h"

#include "trial.h"

#include <math.h>

/* Ratios, less one: a difference below MATTERS is not acted on. After the last
 * pair a difference above ROUGH counts if PAIRS_AGREE pairs agree on it, and
 * "same" is said if the error is below ROUGH. A difference above PLAIN in all
 * pairs counts at once. */
static const double MATTERS = 0.05, ROUGH = 0.15, PLAIN = 1.0;
/* Share of the operations that an order must redirect to have an effect. */
static const double EFFECT_MIN = 0.2;
/* A pair has low counts if both slices have fewer operations, or bursts. */
static const double FEW = 20;
/* The error of a ratio, in parts of the bursts in a slice: a slice of N bursts
 * has one more or less, and the program's rhythm may give it to all slices of
 * one order, so more pairs do not make it smaller. */
static const double BURST_ERROR = 1.1;
enum {
    PAIRS_PLAIN = 2, /* that are enough for a plain difference */
    PAIRS_LEAST = 3, /* for one found by Student's t */
    PAIRS_SIGN = 6,  /* for one found by signs alone: where some slices are
                        empty, the size of ratios says nothing. By chance six
                        agree in one trial of 32 */
    PAIRS_AGREE = 7, /* of all eight, for a rough difference */
    EMPTY_PAIRS = 3  /* in a row: operations have ceased */
};

/* Quantiles of Student's t, two-sided 95 %, by number of pairs. */
static const double student[ASPX_TRIAL_PAIRS + 1] = {
    0, 0, 12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36};

void aspx_trial_begin(struct aspx_trial *trial, uint32_t seed,
                      bool known_effective)
{
    *trial = (struct aspx_trial){
        .seed = seed, .known_effective = known_effective, .ratio = 1};
}

/* Which order is first in a pair: a hash of seed and pair. */
static bool coin(uint32_t seed, uint32_t pair)
{
    uint32_t x = seed + pair * 0x9e3779b9;

    x = (x ^ x >> 16) * 0x85ebca6b;
    x = (x ^ x >> 13) * 0xc2b2ae35;
    return x >> 31;
}

bool aspx_trial_next(const struct aspx_trial *trial)
{
    bool second = trial->slices % 2 == 1;

    return coin(trial->seed, trial->slices / 2) ^ second;
}

double aspx_trial_rate(const struct aspx_trial *trial, bool on)
{
    return trial->seconds[on] > 0 ? trial->ops[on] / trial->seconds[on] : 0;
}

static double redirected_change(const struct aspx_trial *trial)
{
    double share[2];

    for (int on = 0; on < 2; on++)
        share[on] = trial->ops[on] > 0 ? trial->redirected[on] / trial->ops[on]
                                       : on;
    return share[1] - share[0];
}

static bool is_plain(const struct aspx_trial *trial)
{
    const double *r = trial->log_ratio;

    if (trial->npairs < PAIRS_PLAIN || trial->one_sided_pairs ||
        trial->low_count_pairs)
        return false;
    for (uint32_t p = 0; p < trial->npairs; p++)
        if (fabs(r[p]) < log1p(PLAIN) || (r[p] > 0) != (r[0] > 0))
            return false;
    return true;
}

/* The number of pairs that agree with the majority. */
static uint32_t agreeing(const struct aspx_trial *trial)
{
    uint32_t faster = 0;

    for (uint32_t p = 0; p < trial->npairs; p++)
        faster += trial->log_ratio[p] > 0;
    return 2 * faster > trial->npairs ? faster : trial->npairs - faster;
}

static void measure(struct aspx_trial *trial, double *mean_p, double *error_p)
{
    double n = trial->npairs, mean = 0, squares = 0, error, bursts;
    double least = trial->log_ratio[0], most = least;

    for (uint32_t p = 0; p < trial->npairs; p++) {
        mean += trial->log_ratio[p] / n;
        least = fmin(least, trial->log_ratio[p]);
        most = fmax(most, trial->log_ratio[p]);
    }
    for (uint32_t p = 0; p < trial->npairs; p++)
        squares += (trial->log_ratio[p] - mean) * (trial->log_ratio[p] - mean);
    bursts = trial->burst_size > 0
                 ? (trial->ops[0] + trial->ops[1]) / (2 * n * trial->burst_size)
                 : 0;
    error = n > 1 ? student[trial->npairs] * sqrt(squares / (n - 1) / n) : 0;
    trial->ratio = exp(mean);
    trial->low = exp(least);
    trial->high = exp(most);
    *mean_p = mean;
    *error_p = trial->burst_size > 0 ? fmax(error, BURST_ERROR / bursts)
                                     : error;
}

static enum aspx_trial_end faster(double mean)
{
    return mean > 0 ? ASPX_TRIAL_ON : ASPX_TRIAL_OFF;
}

/* Some pairs are one-sided: only the signs of the ratios count. */
static enum aspx_trial_end conclude_by_signs(const struct aspx_trial *trial,
                                             double mean)
{
    if (trial->npairs >= PAIRS_SIGN && agreeing(trial) == trial->npairs)
        return faster(mean);
    return trial->slices / 2 < ASPX_TRIAL_PAIRS ? ASPX_TRIAL_GOES_ON
                                                : ASPX_TRIAL_UNDECIDED;
}

static enum aspx_trial_end conclude(struct aspx_trial *trial)
{
    double mean, error;
    bool ineffective;

    if (trial->empty_pairs >= EMPTY_PAIRS)
        return ASPX_TRIAL_SILENT;
    if (trial->npairs == 0)
        return ASPX_TRIAL_GOES_ON;
    measure(trial, &mean, &error);
    ineffective = !trial->known_effective &&
                  redirected_change(trial) < EFFECT_MIN;
    if (trial->npairs >= PAIRS_LEAST && ineffective)
        return ASPX_TRIAL_INEFFECTIVE;
    if (!ineffective && is_plain(trial))
        return faster(mean);
    if (trial->one_sided_pairs)
        return conclude_by_signs(trial, mean);
    if (trial->npairs >= PAIRS_LEAST && fabs(mean) > log1p(MATTERS) &&
        fabs(mean) > error)
        return faster(mean);
    if (trial->npairs >= PAIRS_LEAST && fabs(mean) + error < log1p(MATTERS))
        return ASPX_TRIAL_SAME;
    if (trial->slices / 2 < ASPX_TRIAL_PAIRS)
        return ASPX_TRIAL_GOES_ON;
    if (fabs(mean) > log1p(ROUGH) && agreeing(trial) >= PAIRS_AGREE)
        return faster(mean);
    return fabs(mean) < log1p(MATTERS) && error < log1p(ROUGH)
               ? ASPX_TRIAL_SAME
               : ASPX_TRIAL_UNDECIDED;
}

/* Operations and seconds of the two slices of a pair: on, off. */
static void add_pair(struct aspx_trial *trial, const double ops[2],
                     const double seconds[2])
{
    double rate[2], few = FEW * (trial->burst_size > 1 ? trial->burst_size : 1);

    if (ops[0] <= 0 && ops[1] <= 0) {
        trial->empty_pairs++;
        return;
    }
    for (int i = 0; i < 2; i++) /* none counts as half a one */
        rate[i] = (ops[i] > 0 ? ops[i] : 0.5) / seconds[i];
    trial->empty_pairs = 0;
    trial->one_sided_pairs += ops[0] <= 0 || ops[1] <= 0;
    trial->low_count_pairs += ops[0] < few && ops[1] < few;
    trial->log_ratio[trial->npairs++] = log(rate[0] / rate[1]);
}

enum aspx_trial_end aspx_trial_slice(struct aspx_trial *trial, double seconds,
                                     double ops, double redirected)
{
    bool on = aspx_trial_next(trial);

    if (trial->end != ASPX_TRIAL_GOES_ON || seconds <= 0)
        return trial->end;
    trial->seconds[on] += seconds;
    trial->ops[on] += ops;
    trial->redirected[on] += redirected;
    if (trial->slices++ % 2 == 0) {
        trial->half = ops;
        trial->half_s = seconds;
        return ASPX_TRIAL_GOES_ON;
    }
    if (on)
        add_pair(trial, (const double[2]){ops, trial->half},
                 (const double[2]){seconds, trial->half_s});
    else
        add_pair(trial, (const double[2]){trial->half, ops},
                 (const double[2]){trial->half_s, seconds});
    return trial->end = conclude(trial);
}
