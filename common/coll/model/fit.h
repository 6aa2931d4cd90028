/* SPDX-License-Identifier: BSD-3-Clause */
/* The constants of a link from times that a probe has measured between two
 * processes: the inverse of simulate.h, which says what a message takes.
 *
 *   there and back of n bytes      2 (o + L + n G + o)
 *   the calls of a small message   o, of its sender and of its receiver
 *   a small message of many        max(o, g + n G)
 *
 * Source: Culler et al., "Assessing fast network interfaces" (IEEE Micro 1996):
 * o from the sender's calls and from a receive of what is there already, g from
 * a burst, L from what is left of the round trip; G: Alexandrov et al. (SPAA
 * 1995). */
#ifndef ASPEN_COMMON_COLL_MODEL_FIT_H
#define ASPEN_COMMON_COLL_MODEL_FIT_H

#include "common/coll/model/simulate.h"

#include <stdbool.h>

/* Nanoseconds, each the least of many: what disturbs only adds. */
struct asp_coll_samples {
    double round_small, round_large; /* there and back */
    double send, receive;            /* calls for one small message */
    double burst;                    /* from one small message to the next */
    uint32_t small, large;           /* bytes */
};

/* Were two halves of a probe equally undisturbed? Their round trips then differ
 * by no more than 1.5 times. On a machine that is full of other programs even
 * the least time may be that of a wait for a CPU, but not twice the same. */
bool asp_coll_samples_agree(const struct asp_coll_samples *one,
                            const struct asp_coll_samples *other);

/* The lesser of each time, of those that were measured. */
void asp_coll_samples_join(struct asp_coll_samples *one,
                           const struct asp_coll_samples *other);

/* No link is slower than 4 ms, and none takes longer for a byte. */
#define ASP_COLL_LINK_PS_MAX INT64_C(4000000000)

/* Fit. What noise makes negative is 0, what is above the limit is that: the
 * constants can be simulated with.
 * Returns 0, or -1 with errno EINVAL: a round trip was not measured, or large
 * is not greater than small. */
int asp_coll_fit(const struct asp_coll_samples *samples,
                 struct asp_coll_link *link_p);

#endif
