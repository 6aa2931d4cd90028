/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "turns.h"

#include "clock.h"

#include <stdatomic.h>

enum {
    USUAL_NS = 100, /* until one was measured */
    LEAST_NS = 20,
    /* What happens between two polls may take so many times a usual turn before
     * it is taken for work. */
    SLACK = 4,
    READS = 64,
};

uint32_t aspx_turns_counted = 1;

static _Atomic uint64_t usual;
static uint64_t least, clock_cost;

void aspx_turns_start(uint32_t counted)
{
    uint64_t best = UINT64_MAX;

    for (int i = 0; i < READS; i++) {
        uint64_t before = aspx_clock_ticks();
        uint64_t took = aspx_clock_ticks() - before;

        if (took < best)
            best = took;
    }
    clock_cost = best;
    least = aspx_clock_ticks_of(1e-9 * LEAST_NS);
    atomic_store(&usual, aspx_clock_ticks_of(1e-9 * USUAL_NS));
    aspx_turns_counted = counted;
}

uint64_t aspx_turns_clock_cost(void)
{
    return clock_cost;
}

uint64_t aspx_turns_usual(void)
{
    return atomic_load_explicit(&usual, memory_order_relaxed);
}

/* A whole turn was measured, with two readings of the clock in it. */
static void learn(uint64_t took)
{
    took = took > 2 * clock_cost + least ? took - 2 * clock_cost : least;
    if (took < aspx_turns_usual())
        atomic_store_explicit(&usual, took, memory_order_relaxed);
}

/* Up to now, between polls: a long time was work, all but a usual turn. */
static void account(struct aspx_turns *t, uint64_t now)
{
    uint64_t passed = aspx_clock_between(t->mark, now);
    uint64_t most = SLACK * aspx_turns_usual() + clock_cost;

    t->idle += passed < most ? passed : most;
    t->mark = now;
}

void aspx_turns_look(struct aspx_turns *t)
{
    account(t, aspx_clock_ticks());
}

void aspx_turns_empty(struct aspx_turns *t)
{
    uint64_t now = aspx_clock_ticks();

    if (t->empty == aspx_turns_counted) {
        t->idle += t->empty * aspx_turns_usual();
    } else {
        t->idle += aspx_clock_between(t->mark, now);
        learn(aspx_clock_between(t->end, now));
    }
    t->mark = t->end = now;
}

void aspx_turns_rested(struct aspx_turns *t)
{
    uint64_t now;

    if (t->empty < aspx_turns_counted)
        return;
    now = aspx_clock_ticks();
    t->idle += aspx_clock_between(t->mark, now);
    t->mark = now;
}

uint64_t aspx_turns_finish(struct aspx_turns *t)
{
    uint64_t idle;

    if (t->empty >= aspx_turns_counted)
        account(t, aspx_clock_ticks());
    else
        aspx_turns_found(t);
    idle = t->idle;
    *t = (struct aspx_turns) {0};
    return idle;
}
