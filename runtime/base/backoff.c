/* SPDX-License-Identifier: BSD-3-Clause */
/* The choice between spinning, yielding and blocking; see backoff.h. */
#include "config.h"

#include "backoff.h"
#include "clock.h"

#include <sched.h>
#include <time.h>

enum {
    /* A yield that takes longer has lost the CPU to a thread that computes; to
     * threads that only look it takes some microseconds. */
    LATE_NS = 500000,
    LATE_SHARE = 50, /* 2 % */
    NS_PER_US = 1000,
};

struct aspx_backoff_choice aspx_backoff_choose(
    const struct aspx_wait_policy *policy, uint64_t idle_us,
    struct aspx_backoff_signs signs)
{
    uint64_t blocking_from = (uint64_t) policy->spin_us + policy->yield_us;
    uint64_t block_us;

    if (idle_us < policy->spin_us)
        return (struct aspx_backoff_choice){ASPX_SPIN, 0};
    if (idle_us < blocking_from && !signs.yields_late)
        return (struct aspx_backoff_choice){ASPX_YIELD, 0};
    block_us = idle_us > blocking_from ? idle_us - blocking_from : 0;
    if (block_us < policy->first_us || signs.awaited)
        block_us = policy->first_us;
    if (block_us > policy->max_us)
        block_us = policy->max_us;
    return (struct aspx_backoff_choice){ASPX_BLOCK, (uint32_t) block_us};
}

struct aspx_backoff_choice aspx_backoff_next(
    struct aspx_backoff *backoff, const struct aspx_wait_policy *policy,
    bool awaited, uint64_t now_ns)
{
    const struct aspx_backoff_signs signs = {
        .awaited = awaited,
        .yields_late = now_ns < backoff->yield_from_ns,
    };

    if (backoff->idle_since_ns == 0)
        backoff->idle_since_ns = now_ns;
    return aspx_backoff_choose(
        policy, (now_ns - backoff->idle_since_ns) / NS_PER_US, signs);
}

void aspx_backoff_nap(enum aspx_waiter waiter)
{
    struct aspx_backoff fresh = {0};

    (void) aspx_backoff_sleep(&fresh, &aspx_wait_table[waiter]);
}

uint32_t aspx_backoff_sleep(struct aspx_backoff *backoff,
                            const struct aspx_wait_policy *policy)
{
    uint32_t us = aspx_backoff_next(backoff, policy, false,
                                    aspx_clock_ns(CLOCK_MONOTONIC))
                      .block_us;
    const struct timespec length = {us / 1000000, us % 1000000 * NS_PER_US};

    (void) nanosleep(&length, NULL);
    return us;
}

void aspx_backoff_yielded(struct aspx_backoff *backoff, uint64_t began_ns,
                          uint64_t ended_ns)
{
    uint64_t took = ended_ns - began_ns;

    if (took > LATE_NS)
        backoff->yield_from_ns = ended_ns + LATE_SHARE * took;
}

void aspx_backoff_yield(struct aspx_backoff *backoff)
{
    uint64_t began_ns = aspx_clock_ns(CLOCK_MONOTONIC);

    sched_yield();
    aspx_backoff_yielded(backoff, began_ns, aspx_clock_ns(CLOCK_MONOTONIC));
}
