/* SPDX-License-Identifier: BSD-3-Clause */
/* The cheapest clock that can be trusted: the processor's own counter where it
 * runs at one rate, never stops and the kernel itself keeps time by it (it has
 * compared the processors then), else the kernel's clock. */
#ifndef ASPEN_RUNTIME_BASE_CLOCK_H
#define ASPEN_RUNTIME_BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#ifdef __x86_64__
#include <x86intrin.h>
#endif

extern bool aspx_clock_counter;            /* is the counter used? */
extern uint64_t (*aspx_clock_other)(void); /* else this; tests bring theirs */

static inline uint64_t aspx_clock_read_counter(void)
{
#ifdef __x86_64__
    return __rdtsc();
#else
    uint64_t ticks;

    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#endif
}

static inline uint64_t aspx_clock_ticks(void)
{
    return __builtin_expect(aspx_clock_counter, 1) ? aspx_clock_read_counter()
                                                   : aspx_clock_other();
}

/* Ticks between two readings; 0 when the second is the earlier one, as readings
 * of two threads or processors may seem. */
static inline uint64_t aspx_clock_between(uint64_t from, uint64_t to)
{
    return to > from ? to - from : 0;
}

/* Choose the clock and compare it with the kernel's, which takes some 100 us.
 * Idempotent. Until then ticks are nanoseconds. */
void aspx_clock_start(void);

/* Ticks to seconds, and back. */
double aspx_clock_seconds(uint64_t ticks);
uint64_t aspx_clock_ticks_of(double seconds);

/* A clock in nanoseconds. */
static inline uint64_t aspx_clock_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t) now.tv_sec * 1000000000 + (uint64_t) now.tv_nsec;
}

#endif
