/* SPDX-License-Identifier: BSD-3-Clause */
/* What to do between two looks at what one waits for: spin, yield or block, and
 * for how long. One function decides it for all waiters, from a row of
 * wait_table.h, the time since there was work, and signs of work that is near.
 *
 *                 work found
 *        +------------------------------------+
 *        v                                    |
 *     spinning --spin_us--> yielding --yield_us--> blocking
 *                              |                  ^
 *                              +--yields are late-+
 *
 * Yielding is cheaper than to sleep and be woken, but not where somebody
 * computes, who keeps the CPU for a time slice from a thread that yields and
 * not from one that is woken. So a thread that gets its CPU back late does not
 * yield for long enough to lose 2 % of its time by it. */
#ifndef ASPEN_RUNTIME_BASE_BACKOFF_H
#define ASPEN_RUNTIME_BASE_BACKOFF_H

#include "wait_table.h"

#include <stdbool.h>
#include <stdint.h>

enum aspx_backoff_step { ASPX_SPIN, ASPX_YIELD, ASPX_BLOCK };

struct aspx_backoff_choice {
    enum aspx_backoff_step step;
    uint32_t block_us; /* at most; 0 unless step is ASPX_BLOCK */
};

/* What a waiter knows of work that is near. */
struct aspx_backoff_signs {
    bool awaited;     /* somebody sleeps until there is work: no wait that is
                         longer than the first */
    bool yields_late; /* a yield would take long: block instead */
};

/* The choice of a waiter that found work idle_us microseconds ago. No state, no
 * clock. */
struct aspx_backoff_choice aspx_backoff_choose(
    const struct aspx_wait_policy *policy, uint64_t idle_us,
    struct aspx_backoff_signs signs);

/* The waiter's own side, one of each thread; to begin with all 0. Times are
 * CLOCK_MONOTONIC, nanoseconds. */
struct aspx_backoff {
    uint64_t idle_since_ns; /* 0: has found work since the last step */
    uint64_t yield_from_ns; /* yields were late: none before */
};

/* It found work. */
static inline void aspx_backoff_reset(struct aspx_backoff *backoff)
{
    backoff->idle_since_ns = 0;
}

/* It found none: the choice now. */
struct aspx_backoff_choice aspx_backoff_next(
    struct aspx_backoff *backoff, const struct aspx_wait_policy *policy,
    bool awaited, uint64_t now_ns);

/* For a caller that nothing wakes: sleep for as long as a row says that never
 * spins or yields. Returns the microseconds. */
uint32_t aspx_backoff_sleep(struct aspx_backoff *backoff,
                            const struct aspx_wait_policy *policy);

/* Sleep once, for as long as a row says that only sleeps. */
void aspx_backoff_nap(enum aspx_waiter waiter);

/* Yield the CPU, and note whether that was late. */
void aspx_backoff_yield(struct aspx_backoff *backoff);

/* A yield took from began to ended. */
void aspx_backoff_yielded(struct aspx_backoff *backoff, uint64_t began_ns,
                          uint64_t ended_ns);

#endif
