/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "poll_sampler.h"

#include "runtime/base/clock.h"

#include <stdatomic.h>

enum {
    USUAL_NS = 100, /* until one was measured */
    LEAST_NS = 20,
    /* What happens between two polls, or in one, may take so many times a usual
     * turn before it is taken for long. */
    SLACK = 4,
    READS = 64,
    /* Turns of a stretch; by chance up to 31 more, so that what comes in a
     * rhythm is met as often as it comes. */
    STRETCH_LEAST = 32,
    STRETCH_CHANCE = 32,
    MEAN_PARTS = 16,    /* of which the newest is one */
    MEMORY_NS = 200000, /* so much long time is remembered */
    LONG_NS = 10000,
};

uint32_t aspx_turns_counted = 1;

static _Atomic uint64_t usual;
static uint64_t least, clock_cost, memory, longer;

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
    memory = aspx_clock_ticks_of(1e-9 * MEMORY_NS);
    longer = aspx_clock_ticks_of(1e-9 * LONG_NS);
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

/* What is not yet long, with a reading of the clock in it. */
static uint64_t slack(void)
{
    return SLACK * aspx_turns_usual() + clock_cost;
}

/* How long since the mark, which is now from here on. */
static uint64_t pass(struct aspx_turns *t)
{
    uint64_t now = aspx_clock_ticks();
    uint64_t passed = aspx_clock_between(t->mark, now);

    t->mark = now;
    return passed;
}

static void enter(struct aspx_turns *t, enum aspx_turns_phase phase,
                  uint32_t turns)
{
    t->phase = phase;
    t->done = 0;
    t->limit = turns - 1;
}

uint32_t aspx_turns_chance(struct aspx_turns *t)
{
    t->dice = t->dice * 1664525 + 1013904223;
    return t->dice >> 16;
}

/* So long took the turns of a stretch that are over, and what is under way. */
static void account_stretch(struct aspx_turns *t, uint64_t passed)
{
    uint64_t rest = aspx_clock_between(t->done * t->mean, passed);
    uint64_t seen = t->waited + t->worked;

    if (rest <= slack())
        rest = 0;
    t->idle += passed - rest;
    if (rest && seen)
        t->idle += (uint64_t) ((double) rest * (double) t->waited /
                               (double) seen);
}

/* Long time is forgotten by and by. */
static void remember(struct aspx_turns *t, uint64_t waited, uint64_t worked)
{
    t->waited += waited;
    t->worked += worked;
    while (t->waited + t->worked > memory) {
        t->waited /= 2;
        t->worked /= 2;
    }
}

/* A clocked turn did not take long; two readings of the clock were in it. */
static void learn(struct aspx_turns *t, uint64_t took)
{
    took = aspx_clock_between(2 * clock_cost, took);
    if (took < least)
        took = least;
    if (took < aspx_turns_usual())
        atomic_store_explicit(&usual, took, memory_order_relaxed);
    t->mean = (t->mean * (MEAN_PARTS - 1) + took) / MEAN_PARTS;
}

/* Before the poll of a clocked turn: a long time was work, all but a slack. */
void aspx_turns_look(struct aspx_turns *t)
{
    uint64_t passed = pass(t);
    uint64_t work = aspx_clock_between(slack(), passed);

    t->idle += passed - work;
    t->ahead = work ? 0 : passed;
    remember(t, 0, work);
}

static void begin(struct aspx_turns *t)
{
    /* once and for all: what is usual may be learned anew */
    t->idle += (t->brief + t->done + 1) * aspx_turns_usual();
    t->brief = 0;
    t->clocked = true;
    t->mark = t->since = aspx_clock_ticks();
    t->since_idle = t->idle;
    if (t->mean == 0)
        t->mean = aspx_turns_usual();
    if (t->left)
        enter(t, ASPX_TURNS_STRETCH, t->left);
    else
        enter(t, ASPX_TURNS_CLOCKED, 1);
}

static void end_stretch(struct aspx_turns *t)
{
    t->done++;
    account_stretch(t, pass(t));
    enter(t, ASPX_TURNS_CLOCKED, 1);
}

static void end_clocked(struct aspx_turns *t)
{
    uint64_t passed = pass(t);
    uint64_t late = aspx_clock_between(slack(), passed);

    t->idle += passed;
    if (t->ahead && !late)
        learn(t, t->ahead + passed);
    t->ahead = 0;
    remember(t, late, 0);
    enter(t, ASPX_TURNS_STRETCH,
          STRETCH_LEAST + aspx_turns_chance(t) % STRETCH_CHANCE);
}

/* Up to the last reading of the clock. */
static bool is_long(const struct aspx_turns *t)
{
    return t->clocked && aspx_clock_between(t->since, t->mark) > longer;
}

/* Waiting is over. */
static void count_again(struct aspx_turns *t)
{
    t->left = t->phase == ASPX_TURNS_STRETCH ? t->limit + 1 - t->done : 0;
    enter(t, ASPX_TURNS_COUNT, aspx_turns_counted);
}

/* A poll that found something was work. */
static void found_some(struct aspx_turns *t)
{
    uint64_t passed = pass(t);

    if (t->phase == ASPX_TURNS_STRETCH)
        account_stretch(t, passed);
    else
        remember(t, 0, passed);
    count_again(t);
}

bool aspx_turns_step(struct aspx_turns *t, unsigned found)
{
    if (found) {
        found_some(t);
    } else if (t->phase == ASPX_TURNS_STRETCH) {
        end_stretch(t);
    } else if (t->phase == ASPX_TURNS_CLOCKED) {
        end_clocked(t);
    } else if (t->done + 1 < aspx_turns_counted) { /* the first that ever was */
        t->limit = aspx_turns_counted - 1;
        t->done++;
        return false;
    } else {
        begin(t);
    }
    return is_long(t);
}

bool aspx_turns_rested(struct aspx_turns *t)
{
    if (t->phase == ASPX_TURNS_COUNT)
        return false;
    t->idle += pass(t);
    t->limit -= t->done;
    t->done = 0;
    return is_long(t);
}

uint64_t aspx_turns_idle(const struct aspx_turns *t)
{
    uint64_t counted = t->phase == ASPX_TURNS_COUNT ? t->done : 0;

    return t->idle + (t->brief + counted) * aspx_turns_usual();
}

bool aspx_turns_stop(struct aspx_turns *t)
{
    if (t->phase == ASPX_TURNS_COUNT)
        return false;
    if (t->phase == ASPX_TURNS_STRETCH)
        account_stretch(t, pass(t));
    else
        aspx_turns_look(t);
    count_again(t);
    return is_long(t);
}

uint32_t aspx_turns_take(struct aspx_turns *t)
{
    uint64_t counted = t->brief + t->done;

    t->brief = t->done = 0;
    return (uint32_t) counted;
}

uint64_t aspx_turns_finish(struct aspx_turns *t)
{
    uint64_t idle;

    (void) aspx_turns_stop(t);
    idle = aspx_turns_idle(t);
    t->idle = t->brief = t->done = 0;
    t->clocked = false;
    return idle;
}
