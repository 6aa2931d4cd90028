/* SPDX-License-Identifier: BSD-3-Clause */
/* How long a process has been inside MPI, so that another process of its node
 * can see it at any time: the ghost that judges (adapt/node/node_controller.h).
 * In the process's own memory until somebody wants it elsewhere (timing.h). */
#ifndef ASPEN_RUNTIME_PROFILE_MPI_TIME_SHARED_H
#define ASPEN_RUNTIME_PROFILE_MPI_TIME_SHARED_H

#include "runtime/base/clock.h"
#include "busy_union.h"

#include <stdbool.h>

/* Whose ticks they are: two processes may differ in what they trust. */
enum { ASPX_PULSE_NONE, ASPX_PULSE_COUNTER, ASPX_PULSE_SYSTEM };

struct aspx_pulse {
    /* Outside, the ticks that the process has been inside. Inside, INSIDE and
     * the tick at which it would have entered if it had been there without a
     * break: so one load says both, whenever it comes. Where several threads
     * may be inside, only what is known by samples; `span` has the rest. */
    _Alignas(64) _Atomic uint64_t word;
    struct aspx_span span;
    /* Of the ticks inside, those in which something was done, as far as calls
     * are over; the rest was waiting. May go back a little, where a call waited
     * that is only counted. With several threads: 0. */
    _Atomic uint64_t work;
    _Atomic uint64_t origin; /* what the span's ticks count from */
    _Atomic uint32_t clock;  /* above; NONE: nobody publishes here */
};

#define ASPX_PULSE_INSIDE (UINT64_C(1) << 63)

static inline uint32_t aspx_pulse_clock(void)
{
    return aspx_clock_counter ? ASPX_PULSE_COUNTER : ASPX_PULSE_SYSTEM;
}

/* The writer's side; one thread at a time. A call that began `then` is under
 * way; it is over, and stands for `more` ticks of others; it was left half-way,
 * and nobody knows when. */
static inline void aspx_pulse_enter(struct aspx_pulse *pulse, uint64_t then)
{
    uint64_t sum = atomic_load_explicit(&pulse->word, memory_order_relaxed);

    atomic_store_explicit(&pulse->word, ASPX_PULSE_INSIDE | (then - sum),
                          memory_order_relaxed);
}

static inline void aspx_pulse_leave(struct aspx_pulse *pulse, uint64_t now,
                                    uint64_t more)
{
    uint64_t word = atomic_load_explicit(&pulse->word, memory_order_relaxed);

    atomic_store_explicit(
        &pulse->word, aspx_clock_between(word & ~ASPX_PULSE_INSIDE, now) + more,
        memory_order_relaxed);
}

static inline bool aspx_pulse_inside(const struct aspx_pulse *pulse)
{
    return atomic_load_explicit(&pulse->word, memory_order_relaxed) &
           ASPX_PULSE_INSIDE;
}

/* Ticks inside up to now. Processes, threads: any. */
static inline uint64_t aspx_pulse_read(struct aspx_pulse *pulse, uint64_t now)
{
    uint64_t word = atomic_load_explicit(&pulse->word, memory_order_relaxed);
    uint64_t origin = atomic_load_explicit(&pulse->origin,
                                           memory_order_relaxed);

    if (word & ASPX_PULSE_INSIDE)
        word = aspx_clock_between(word & ~ASPX_PULSE_INSIDE, now);
    return word + aspx_span_read(&pulse->span, aspx_clock_between(origin, now));
}

#endif
