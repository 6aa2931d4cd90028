/* SPDX-License-Identifier: BSD-3-Clause */
/* The phases of a wait (poll_sampler.h), and what each tells. */
#include "config.h"

#include "poll_sampler.h"

#include "runtime/base/clock.h"

#include <stdatomic.h>

enum {
    TYPICAL_NS = 100, /* of an empty poll, until one was measured */
    LEAST_NS = 20,    /* a shorter one is an error of measurement */
    SLACK = 4,        /* typical polls; half a poll that takes longer is long */
    READS = 64,       /* of the clock, to learn its cost */
    /* Polls of a batch. The random part keeps batches out of step with what
     * arrives in a rhythm. */
    BATCH_LEAST = 32,
    BATCH_RANDOM = 32,
    MEAN_PARTS = 16,    /* the newest poll is one of them */
    MEMORY_NS = 200000, /* of long times: older ones fade */
    LONG_NS = 10000,    /* a wait that is worth timing the call for */
};

uint32_t aspx_polls_counted_first = 1;

static _Atomic uint64_t typical;
static uint64_t least, clock_cost, memory, long_wait;

void aspx_poll_sampler_start(uint32_t counted_first)
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
    long_wait = aspx_clock_ticks_of(1e-9 * LONG_NS);
    atomic_store(&typical, aspx_clock_ticks_of(1e-9 * TYPICAL_NS));
    aspx_polls_counted_first = counted_first;
}

uint64_t aspx_poll_sampler_clock_cost(void)
{
    return clock_cost;
}

uint64_t aspx_poll_sampler_typical(void)
{
    return atomic_load_explicit(&typical, memory_order_relaxed);
}

/* The longest time that is not long; one reading of the clock is in it. */
static uint64_t slack(void)
{
    return SLACK * aspx_poll_sampler_typical() + clock_cost;
}

/* Move the mark to now. Returns the time since it was set. */
static uint64_t move_mark(struct aspx_poll_sampler *sampler)
{
    uint64_t now = aspx_clock_ticks();
    uint64_t passed = aspx_clock_between(sampler->mark, now);

    sampler->mark = now;
    return passed;
}

static void enter_phase(struct aspx_poll_sampler *sampler,
                        enum aspx_poll_phase phase, uint32_t polls)
{
    sampler->phase = phase;
    sampler->done = 0;
    sampler->limit = polls - 1;
}

uint32_t aspx_poll_sampler_random(struct aspx_poll_sampler *sampler)
{
    sampler->random = sampler->random * 1664525 + 1013904223;
    return sampler->random >> 16;
}

/* A batch took so long, from its begin or the last yield up to now. */
static void account_batch(struct aspx_poll_sampler *sampler, uint64_t passed)
{
    uint64_t usual = sampler->done * sampler->mean;
    uint64_t beyond = aspx_clock_between(usual, passed);
    uint64_t known = sampler->long_waited + sampler->long_worked;

    if (beyond <= slack())
        beyond = 0;
    sampler->idle += passed - beyond;
    if (beyond && known)
        sampler->idle += (uint64_t) ((double) beyond *
                                     (double) sampler->long_waited /
                                     (double) known);
}

static void remember_long(struct aspx_poll_sampler *sampler, uint64_t waited,
                          uint64_t worked)
{
    sampler->long_waited += waited;
    sampler->long_worked += worked;
    while (sampler->long_waited + sampler->long_worked > memory) {
        sampler->long_waited /= 2;
        sampler->long_worked /= 2;
    }
}

/* A TIMED poll did not take long; two readings of the clock were in it. */
static void learn_typical(struct aspx_poll_sampler *sampler, uint64_t took)
{
    took = aspx_clock_between(2 * clock_cost, took);
    if (took < least)
        took = least;
    if (took < aspx_poll_sampler_typical())
        atomic_store_explicit(&typical, took, memory_order_relaxed);
    sampler->mean = (sampler->mean * (MEAN_PARTS - 1) + took) / MEAN_PARTS;
}

/* Outside of the call, what is beyond the slack was work. */
void aspx_poll_sampler_before_timed(struct aspx_poll_sampler *sampler)
{
    uint64_t passed = move_mark(sampler);
    uint64_t worked = aspx_clock_between(slack(), passed);

    sampler->idle += passed - worked;
    sampler->before_call = worked ? 0 : passed;
    remember_long(sampler, 0, worked);
}

static void begin_reading(struct aspx_poll_sampler *sampler)
{
    /* at today's typical poll, for good: idle must not decrease later */
    sampler->idle += (sampler->counted + sampler->done + 1) *
                     aspx_poll_sampler_typical();
    sampler->counted = 0;
    sampler->clock_read = true;
    sampler->mark = sampler->since = aspx_clock_ticks();
    sampler->idle_at_since = sampler->idle;
    if (sampler->mean == 0)
        sampler->mean = aspx_poll_sampler_typical();
    if (sampler->batch_left)
        enter_phase(sampler, ASPX_POLLS_BATCHED, sampler->batch_left);
    else
        enter_phase(sampler, ASPX_POLLS_TIMED, 1);
}

static void end_batch(struct aspx_poll_sampler *sampler)
{
    sampler->done++;
    account_batch(sampler, move_mark(sampler));
    enter_phase(sampler, ASPX_POLLS_TIMED, 1);
}

/* An empty call was waiting however long it took: it yielded its CPU then. */
static void end_timed(struct aspx_poll_sampler *sampler)
{
    uint64_t passed = move_mark(sampler);
    uint64_t beyond = aspx_clock_between(slack(), passed);

    sampler->idle += passed;
    if (sampler->before_call && !beyond)
        learn_typical(sampler, sampler->before_call + passed);
    sampler->before_call = 0;
    remember_long(sampler, beyond, 0);
    enter_phase(sampler, ASPX_POLLS_BATCHED,
                BATCH_LEAST + aspx_poll_sampler_random(sampler) % BATCH_RANDOM);
}

/* Up to the last reading of the clock. */
static bool is_long(const struct aspx_poll_sampler *sampler)
{
    return sampler->clock_read &&
           aspx_clock_between(sampler->since, sampler->mark) > long_wait;
}

/* The wait is over; the next one goes on with the batch. */
static void count_again(struct aspx_poll_sampler *sampler)
{
    sampler->batch_left = sampler->phase == ASPX_POLLS_BATCHED
                              ? sampler->limit + 1 - sampler->done
                              : 0;
    enter_phase(sampler, ASPX_POLLS_COUNTED, aspx_polls_counted_first);
}

/* A call that handled something was work. */
static void end_of_wait(struct aspx_poll_sampler *sampler)
{
    uint64_t passed = move_mark(sampler);

    if (sampler->phase == ASPX_POLLS_BATCHED)
        account_batch(sampler, passed);
    else
        remember_long(sampler, 0, passed);
    count_again(sampler);
}

bool aspx_poll_sampler_after(struct aspx_poll_sampler *sampler, unsigned events)
{
    if (events) {
        end_of_wait(sampler);
    } else if (sampler->phase == ASPX_POLLS_BATCHED) {
        end_batch(sampler);
    } else if (sampler->phase == ASPX_POLLS_TIMED) {
        end_timed(sampler);
    } else if (sampler->done + 1 < aspx_polls_counted_first) {
        /* the first wait of all: it began with a limit of 0 */
        sampler->limit = aspx_polls_counted_first - 1;
        sampler->done++;
        return false;
    } else {
        begin_reading(sampler);
    }
    return is_long(sampler);
}

void aspx_poll_sampler_blocks(struct aspx_poll_sampler *sampler)
{
    if (sampler->phase == ASPX_POLLS_COUNTED)
        begin_reading(sampler);
}

bool aspx_poll_sampler_yielded(struct aspx_poll_sampler *sampler)
{
    if (sampler->phase == ASPX_POLLS_COUNTED)
        return false;
    sampler->idle += move_mark(sampler);
    sampler->limit -= sampler->done;
    sampler->done = 0;
    return is_long(sampler);
}

uint64_t aspx_poll_sampler_idle(const struct aspx_poll_sampler *sampler)
{
    uint64_t now = sampler->phase == ASPX_POLLS_COUNTED ? sampler->done : 0;

    return sampler->idle +
           (sampler->counted + now) * aspx_poll_sampler_typical();
}

bool aspx_poll_sampler_stop(struct aspx_poll_sampler *sampler)
{
    if (sampler->phase == ASPX_POLLS_COUNTED)
        return false;
    if (sampler->phase == ASPX_POLLS_BATCHED)
        account_batch(sampler, move_mark(sampler));
    else
        aspx_poll_sampler_before_timed(sampler);
    count_again(sampler);
    return is_long(sampler);
}

uint32_t aspx_poll_sampler_take_counted(struct aspx_poll_sampler *sampler)
{
    uint64_t counted = sampler->counted + sampler->done;

    sampler->counted = sampler->done = 0;
    return (uint32_t) counted;
}

uint64_t aspx_poll_sampler_finish(struct aspx_poll_sampler *sampler)
{
    uint64_t idle;

    (void) aspx_poll_sampler_stop(sampler);
    idle = aspx_poll_sampler_idle(sampler);
    sampler->idle = sampler->counted = sampler->done = 0;
    sampler->clock_read = false;
    return idle;
}
