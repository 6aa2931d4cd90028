/* SPDX-License-Identifier: BSD-3-Clause */
/* Giving one's CPU to whoever wants it, between two looks at something. That is
 * cheaper than to sleep and be woken, but not where somebody computes: he keeps
 * the CPU for a time slice from who yields, and not from who is woken. So who
 * gets it back late does not yield for long enough to lose but a small part of
 * the time by that. */
#ifndef ASPEN_RUNTIME_BASE_YIELD_BACKOFF_H
#define ASPEN_RUNTIME_BASE_YIELD_BACKOFF_H

#include "clock.h"

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    ASPX_GIVE_WAY_LATE_NS = 500000,
    ASPX_GIVE_WAY_PART = 50, /* so small */
};

/* Of one thread. To begin with all 0. CLOCK_MONOTONIC. */
struct aspx_give_way {
    uint64_t not_before_ns;
};

/* A yield took from then to then. */
static inline void aspx_give_way_took(struct aspx_give_way *way,
                                      uint64_t began_ns, uint64_t ended_ns)
{
    uint64_t took = ended_ns - began_ns;

    if (took > ASPX_GIVE_WAY_LATE_NS)
        way->not_before_ns = ended_ns + ASPX_GIVE_WAY_PART * took;
}

/* Yield. Returns false, having done nothing, where that would be late. */
static inline bool aspx_give_way(struct aspx_give_way *way)
{
    uint64_t began_ns = aspx_clock_ns(CLOCK_MONOTONIC);

    if (began_ns < way->not_before_ns)
        return false;
    sched_yield();
    aspx_give_way_took(way, began_ns, aspx_clock_ns(CLOCK_MONOTONIC));
    return true;
}

#endif
