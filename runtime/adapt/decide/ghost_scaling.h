/* SPDX-License-Identifier: BSD-3-Clause */
/* How many of the ghosts of a node are needed? Called with what each did in the
 * last interval. It grows at once, to twice as many: a ghost at its limit does
 * not show how much more is waiting. It shrinks by one when one less would do
 * for several intervals in a row. Pure: whoever calls brings the numbers. */
#ifndef ASPEN_RUNTIME_ADAPT_DECIDE_GHOST_SCALING_H
#define ASPEN_RUNTIME_ADAPT_DECIDE_GHOST_SCALING_H

#include <stdint.h>

struct aspx_scaler {
    double high, low; /* shares of the time */
    uint32_t reserved, active;
    uint32_t low_intervals; /* intervals in a row in which one less would do */
    uint32_t patience;      /* how many of them it takes */
    uint32_t shrunk;        /* intervals since it shrank last */
};

/* Starts with all ghosts active: nobody is worse off before something is known.
 *   reserved   ghosts of the node, at least 1
 *   high, low  0..1; a low above high is taken for high */
void aspx_scaler_init(struct aspx_scaler *scaler, uint32_t reserved,
                      double high, double low);

/* An interval has passed. Returns how many ghosts are active from now on, from
 * 1 to reserved.
 *   busy  shares of the interval that the ghosts were at work, 0..1, one for
 *         each that is reserved: what reaches those that are not active counts
 *         as well */
uint32_t aspx_scaler_update(struct aspx_scaler *scaler, const double *busy);

#endif
