/* SPDX-License-Identifier: BSD-3-Clause */
/* Ghosts on and off in turns, for slices of some ten milliseconds, and how many
 * operations came through in each: does the program get on faster with them or
 * without? Slices come in pairs, one of each kind, and each pair gives a ratio;
 * the order within a pair is random, so that neither a drift nor the program's
 * own rhythm is taken for an effect. It is over as soon as the ratios say so,
 * and after a few pairs at the latest. Pure: the caller runs the slices. */
#ifndef ASPEN_RUNTIME_ADAPT_DECIDE_TRIAL_H
#define ASPEN_RUNTIME_ADAPT_DECIDE_TRIAL_H

#include <stdbool.h>
#include <stdint.h>

enum { ASPX_TRIAL_PAIRS = 8 }; /* at most */

enum aspx_trial_end {
    ASPX_TRIAL_GOES_ON,
    ASPX_TRIAL_ON,          /* faster with ghosts */
    ASPX_TRIAL_OFF,         /* faster without */
    ASPX_TRIAL_SAME,        /* within a few percent */
    ASPX_TRIAL_UNDECIDED,   /* too uneven to tell */
    ASPX_TRIAL_SILENT,      /* the operations ceased */
    ASPX_TRIAL_INEFFECTIVE, /* operations go the same way, on or off */
};

struct aspx_trial {
    enum aspx_trial_end end;
    uint32_t seed;        /* of the order */
    bool known_effective; /* operations are known to go where they are told */
    double burst_size; /* operations come so many at a time, and counts of them
                     in a slice are uncertain by as many */
    uint32_t slices;   /* that are over */
    uint32_t npairs;   /* with operations */
    uint32_t one_sided_pairs; /* of these, with operations in one slice only */
    uint32_t low_count_pairs; /* with few */
    uint32_t empty_pairs;     /* pairs without any, since there was one */
    double log_ratio[ASPX_TRIAL_PAIRS]; /* on over off */
    double half, half_s; /* operations of the first slice of a pair; seconds */
    double seconds[2], ops[2], redirected[2]; /* off and on, all slices */
    double ratio, low, high; /* on over off: mean, least and most of all
                                pairs */
};

/*   seed    any number, another one each time
 *   follow  operations go where they are told; else the trial finds out, which
 *           takes two ways that differ in most of them */
void aspx_trial_begin(struct aspx_trial *trial, uint32_t seed,
                      bool known_effective);

/* Is the next slice one with ghosts? */
bool aspx_trial_next(const struct aspx_trial *trial);

/* A slice is over.
 *   redirected  of these operations, by ghosts
 * Returns how the trial ended, or GOES_ON. */
enum aspx_trial_end aspx_trial_slice(struct aspx_trial *trial, double seconds,
                                     double ops, double redirected);

/* Operations per second in the slices so far, on or off. */
double aspx_trial_rate(const struct aspx_trial *trial, bool on);

#endif
