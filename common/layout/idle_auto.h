/* SPDX-License-Identifier: BSD-3-Clause */
/* What "auto" means for the knobs of how ghosts wait, in microseconds: a ghost
 * with a CPU of its own may spin for longer; one that wakes up on the CPU of
 * others takes it from them each time. */
#ifndef ASPEN_COMMON_LAYOUT_IDLE_AUTO_H
#define ASPEN_COMMON_LAYOUT_IDLE_AUTO_H

enum {
    ASP_IDLE_SPIN_ALONE_US = 1000,
    ASP_IDLE_SPIN_US = 20, /* a few round trips: the next may be under way */
    ASP_IDLE_YIELD_US = 500,
    ASP_IDLE_NAP_MAX_US = 1000,
    ASP_IDLE_NAP_SHARED_US = 5000, /* on the CPU of others */
};

#endif
