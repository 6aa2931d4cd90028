/* SPDX-License-Identifier: BSD-3-Clause */
/* A trial compares two orders, for instance redirection on and off: they are in
 * force in turns, in slices of some ten milliseconds, and the operations that
 * ranks get done in each slice are counted. Slices come in pairs, one of each
 * order; a pair gives the ratio of the two rates. The order within a pair is
 * random, so that neither a drift nor the program's rhythm looks like an
 * effect. The trial ends as soon as the ratios are clear, after
 * ASPX_TRIAL_PAIRS pairs at the latest; the rules are a table in
 * docs/design/adaptation.md. Pure: the caller runs the slices. "On" is one of
 * the orders, "off" the other. */
#ifndef ASPEN_RUNTIME_ADAPT_DECIDE_TRIAL_H
#define ASPEN_RUNTIME_ADAPT_DECIDE_TRIAL_H

#include <stdbool.h>
#include <stdint.h>

enum { ASPX_TRIAL_PAIRS = 8 }; /* at most */

enum aspx_trial_end {
    ASPX_TRIAL_GOES_ON,
    ASPX_TRIAL_ON,          /* faster on */
    ASPX_TRIAL_OFF,         /* faster off */
    ASPX_TRIAL_SAME,        /* the rates differ by a few percent at most */
    ASPX_TRIAL_UNDECIDED,   /* the pairs differ too much */
    ASPX_TRIAL_SILENT,      /* no operation came any more */
    ASPX_TRIAL_INEFFECTIVE, /* operations went the same way on and off */
};

struct aspx_trial {
    enum aspx_trial_end end;
    uint32_t seed;            /* of the order within pairs */
    bool known_effective;     /* the orders are known to have an effect */
    double burst_size;        /* operations that come at a time: the count of a
                                 slice is uncertain by as many; 0: by none */
    uint32_t slices;          /* that are over */
    uint32_t npairs;          /* with operations */
    uint32_t one_sided_pairs; /* of these, with operations in one slice only */
    uint32_t low_count_pairs; /* of these, with few */
    uint32_t empty_pairs;     /* without operations, in a row */
    double log_ratio[ASPX_TRIAL_PAIRS]; /* on over off */
    double half, half_s; /* first slice of a pair: operations; seconds */
    double seconds[2], ops[2], redirected[2]; /* of all slices: off, on */
    double ratio, low, high; /* on over off: mean, least and most of all
                                pairs */
};

/*   seed             any number, another one each time
 *   known_effective  the orders are known to have an effect; else the trial
 *                    finds out, from the operations that were redirected */
void aspx_trial_begin(struct aspx_trial *trial, uint32_t seed,
                      bool known_effective);

/* Is the next slice one with ghosts? */
bool aspx_trial_next(const struct aspx_trial *trial);

/* A slice is over.
 *   ops         in the slice, by all ranks
 *   redirected  of these, to ghosts
 * Returns how the trial ended, or GOES_ON. */
enum aspx_trial_end aspx_trial_slice(struct aspx_trial *trial, double seconds,
                                     double ops, double redirected);

/* Operations per second in the slices so far, on or off. */
double aspx_trial_rate(const struct aspx_trial *trial, bool on);

#endif
