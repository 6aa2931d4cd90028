/* SPDX-License-Identifier: BSD-3-Clause */
/* How many ghosts of a node are to be active, from what each did in the last
 * interval:
 *
 *   a ghost was busier than high              | twice as many, at once: it does
 *                                             | not show how much is waiting
 *   one less would stay below low, in several | one less
 *   intervals in a row (patience)             |
 *   it grew soon after it shrank              | patience doubles, else it is as
 *                                             | at first
 *
 * Pure: the caller brings the numbers. */
#ifndef ASPEN_RUNTIME_ADAPT_DECIDE_GHOST_SCALING_H
#define ASPEN_RUNTIME_ADAPT_DECIDE_GHOST_SCALING_H

#include <stdint.h>

struct aspx_scaler {
    double high, low; /* shares of an interval at work, 0..1 */
    uint32_t reserved, active;
    uint32_t low_intervals; /* intervals in a row in which one less would do */
    uint32_t patience;      /* so many of them park a ghost */
    uint32_t shrunk;        /* intervals since it shrank last */
};

/* Starts with all ghosts active, as if nothing were decided.
 *   reserved   ghosts of the node, at least 1
 *   high, low  0..1; low is at most high */
void aspx_scaler_init(struct aspx_scaler *scaler, uint32_t reserved,
                      double high, double low);

/* An interval has passed. Returns how many ghosts are active from now on, from
 * 1 to reserved.
 *   busy  share of the interval at work, 0..1, of each reserved ghost: work that
 *         reaches parked ones counts as well */
uint32_t aspx_scaler_update(struct aspx_scaler *scaler, const double *busy);

#endif
