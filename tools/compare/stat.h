/* SPDX-License-Identifier: BSD-3-Clause */
/* What `aspen compare` makes of two lists of times. Nothing here knows of Slurm
 * or runs anything.
 *
 * The effect is a ratio: of all pairs (a run with Aspen, a run without) the
 * median of their quotients. Its interval comes from the same quotients, by the
 * distribution of the Mann-Whitney statistic (Hodges and Lehmann 1963): nothing
 * is assumed of how times are distributed, and from 7 runs each on one run
 * that went astray can move neither end of it. */
#ifndef ASPEN_TOOLS_COMPARE_STAT_H
#define ASPEN_TOOLS_COMPARE_STAT_H

#include <stddef.h>

enum {
    ASPT_RUNS_MIN = 4,   /* of each kind; 3 cannot tell anything at 95 % */
    ASPT_RUNS_MAX = 100, /* of each kind */
};

enum aspt_verdict {
    ASPT_HELPS,
    ASPT_HURTS,
    ASPT_SAME,    /* the interval holds 1 and not much else, or a trifle */
    ASPT_UNCLEAR, /* the interval holds 1, and much else */
    ASPT_TOO_FEW,
};

struct aspt_effect {
    enum aspt_verdict verdict;
    double ratio, low, high; /* time with Aspen over time without */
    double confidence;       /* of the interval: at least 0.95 */
};

/* Of a copy; n >= 1. */
double aspt_median(const double *values, size_t n);

/* Compare two lists of times, all > 0. Fewer than ASPT_RUNS_MIN (or more than
 * ASPT_RUNS_MAX) in a list: the verdict is ASPT_TOO_FEW and only the ratio, of
 * the medians, is set (0 if a list is empty). */
void aspt_effect_of(const double *with, size_t nwith, const double *without,
                    size_t nwithout, struct aspt_effect *out_p);

/* What is saved of something: of all pairs the median of the differences, the
 * value without Aspen less the value with it, and its interval, as above. */
struct aspt_saved {
    double s, low, high;
    double confidence; /* of the interval; 0: too few runs, there is none */
};

/* n >= 1 in both lists, of which values may be 0. */
void aspt_saved_of(const double *with, size_t nwith, const double *without,
                   size_t nwithout, struct aspt_saved *out_p);

/* Smallest and largest; n >= 1. */
void aspt_ends(const double *values, size_t n, double *least_p, double *most_p);

/* How far the ends of the interval are from the estimate, at most, in percent
 * of the time without Aspen. */
double aspt_effect_width(const struct aspt_effect *effect);

/* "helps", "hurts", "same", "unclear", "too few". */
const char *aspt_verdict_name(enum aspt_verdict verdict);

/* "helps 23 % +- 2", "no difference (within 1.4 %)", .... Returns buf. */
const char *aspt_effect_print(const struct aspt_effect *effect, char *buf,
                              size_t size);

#endif
