/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "trial.h"

#include <math.h>

/* No difference below MATTERS is acted on, and after the last pair one that is
 * known to within ROUGH is taken for what it seems, as is a larger one in which
 * all pairs but one agree; where all pairs say more than PLAIN,
 * PAIRS_PLAIN of them are enough. Slices without operations: give up after
 * SILENT pairs. Switching moves FOLLOWS of the operations at least, or it is for
 * nothing. */
static const double MATTERS = 0.05, ROUGH = 0.15, PLAIN = 1.0, FOLLOWS = 0.2;
enum { PAIRS_PLAIN = 2, PAIRS_LEAST = 3, PAIRS_AGREE = 7, SILENT = 2 };

/* Student's t, two-sided 95 %, by pairs. */
static const double student[ASPX_TRIAL_PAIRS + 1] = {
    0, 0, 12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36};

void aspx_trial_begin(struct aspx_trial *trial, bool on, bool follow)
{
    *trial = (struct aspx_trial) {.first = on, .follow = follow, .ratio = 1};
}

/* on off, off on, on off, ... */
bool aspx_trial_next(const struct aspx_trial *trial)
{
    bool second = trial->slices % 2 == 1, turned = trial->slices / 2 % 2 == 1;

    return trial->first ^ second ^ turned;
}

double aspx_trial_rate(const struct aspx_trial *trial, bool on)
{
    return trial->seconds[on] > 0 ? trial->ops[on] / trial->seconds[on] : 0;
}

static double followed(const struct aspx_trial *trial)
{
    double share[2];

    for (int on = 0; on < 2; on++)
        share[on] = trial->ops[on] > 0
                        ? trial->redirected[on] / trial->ops[on] : on;
    return share[1] - share[0];
}

static bool is_plain(const struct aspx_trial *trial)
{
    const double *r = trial->log_ratio;

    for (uint32_t p = 0; p < trial->npairs; p++)
        if (fabs(r[p]) < log1p(PLAIN) || (r[p] > 0) != (r[0] > 0))
            return false;
    return true;
}

/* Pairs that say the same as the majority. */
static uint32_t agreeing(const struct aspx_trial *trial)
{
    uint32_t faster = 0;

    for (uint32_t p = 0; p < trial->npairs; p++)
        faster += trial->log_ratio[p] > 0;
    return 2 * faster > trial->npairs ? faster : trial->npairs - faster;
}

static void measure(struct aspx_trial *trial, double *mean_p, double *error_p)
{
    double n = trial->npairs, mean = 0, squares = 0, error;
    double least = trial->log_ratio[0], most = least;

    for (uint32_t p = 0; p < trial->npairs; p++) {
        mean += trial->log_ratio[p] / n;
        least = fmin(least, trial->log_ratio[p]);
        most = fmax(most, trial->log_ratio[p]);
    }
    for (uint32_t p = 0; p < trial->npairs; p++)
        squares += (trial->log_ratio[p] - mean) * (trial->log_ratio[p] - mean);
    error = n > 1 ? student[trial->npairs] * sqrt(squares / (n - 1) / n) : 0;
    trial->ratio = exp(mean);
    trial->low = exp(least);
    trial->high = exp(most);
    *mean_p = mean;
    *error_p = error;
}

static enum aspx_trial_end judge(struct aspx_trial *trial)
{
    uint32_t pairs = trial->slices / 2;
    double mean, error;

    if (trial->npairs + SILENT <= pairs)
        return ASPX_TRIAL_SILENT;
    if (trial->npairs == 0)
        return ASPX_TRIAL_GOES_ON;
    measure(trial, &mean, &error);
    if (trial->npairs >= PAIRS_PLAIN && is_plain(trial))
        return mean > 0 ? ASPX_TRIAL_ON : ASPX_TRIAL_OFF;
    if (trial->npairs >= PAIRS_LEAST && !trial->follow &&
        followed(trial) < FOLLOWS)
        return ASPX_TRIAL_DEAF;
    if (trial->npairs >= PAIRS_LEAST && fabs(mean) > log1p(MATTERS) &&
        fabs(mean) > error)
        return mean > 0 ? ASPX_TRIAL_ON : ASPX_TRIAL_OFF;
    if (trial->npairs >= PAIRS_LEAST && fabs(mean) + error < log1p(MATTERS))
        return ASPX_TRIAL_SAME;
    if (pairs < ASPX_TRIAL_PAIRS)
        return ASPX_TRIAL_GOES_ON;
    if (fabs(mean) > log1p(ROUGH) && agreeing(trial) >= PAIRS_AGREE)
        return mean > 0 ? ASPX_TRIAL_ON : ASPX_TRIAL_OFF;
    return fabs(mean) < log1p(MATTERS) && error < log1p(ROUGH)
               ? ASPX_TRIAL_SAME : ASPX_TRIAL_UNDECIDED;
}

enum aspx_trial_end aspx_trial_slice(struct aspx_trial *trial, double seconds,
                                     double ops, double redirected)
{
    bool on = aspx_trial_next(trial);
    double rate;

    if (trial->end != ASPX_TRIAL_GOES_ON || seconds <= 0)
        return trial->end;
    trial->seconds[on] += seconds;
    trial->ops[on] += ops;
    trial->redirected[on] += redirected;
    rate = ops / seconds;
    if (trial->slices++ % 2 == 0) {
        trial->half = rate;
        return ASPX_TRIAL_GOES_ON;
    }
    if (rate > 0 || trial->half > 0) {
        /* Half an operation where there was none. */
        double least = 0.5 / seconds;
        double a = trial->half > least ? trial->half : least;
        double b = rate > least ? rate : least;

        trial->log_ratio[trial->npairs++] = on ? log(b / a) : log(a / b);
    }
    return trial->end = judge(trial);
}
