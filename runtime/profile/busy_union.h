/* SPDX-License-Identifier: BSD-3-Clause */
/* The time in which at least one of many threads is inside MPI.
 *
 * One atomic word holds the number of threads inside and a time: while there
 * are any, when the first of them entered; else, when the last one left. So the
 * last one that leaves knows what to add to the sum, and a thread that read the
 * clock before that and enters only now counts no time twice. */
#ifndef ASPEN_RUNTIME_PROFILE_BUSY_UNION_H
#define ASPEN_RUNTIME_PROFILE_BUSY_UNION_H

#include <stdatomic.h>
#include <stdint.h>

/* Times are units of 64 ticks, counted from the start of the program, or they
 * would not fit: 48 bits of units are two months. Threads: 65,535 at most. */
struct aspx_busy_union {
    _Atomic uint64_t word; /* time << ASPX_BUSY_COUNT_BITS | threads inside */
    _Atomic uint64_t sum;  /* of the periods that are over, in units */
};

enum {
    ASPX_BUSY_COUNT_BITS = 16,
    ASPX_BUSY_UNIT_BITS = 6,
    ASPX_BUSY_THREADS = (1 << ASPX_BUSY_COUNT_BITS) - 1,
};

/* The later one of now (ticks) and the word's time, in units: the clocks of two
 * threads may differ. */
static inline uint64_t aspx_busy_union_later(uint64_t word, uint64_t now)
{
    uint64_t then = word >> ASPX_BUSY_COUNT_BITS;

    now >>= ASPX_BUSY_UNIT_BITS;
    return now > then ? now : then;
}

static inline void aspx_busy_union_enter(struct aspx_busy_union *busy,
                                         uint64_t now)
{
    uint64_t old = atomic_load(&busy->word), new;

    do
        new = old &ASPX_BUSY_THREADS
                  ? old + 1
                  : aspx_busy_union_later(old, now) << ASPX_BUSY_COUNT_BITS | 1;
    while (!atomic_compare_exchange_weak(&busy->word, &old, new));
}

static inline void aspx_busy_union_leave(struct aspx_busy_union *busy,
                                         uint64_t now)
{
    uint64_t old = atomic_load(&busy->word), new;

    do
        new = (old & ASPX_BUSY_THREADS) > 1
                  ? old - 1
                  : aspx_busy_union_later(old, now) << ASPX_BUSY_COUNT_BITS;
    while (!atomic_compare_exchange_weak(&busy->word, &old, new));
    if (!(new &ASPX_BUSY_THREADS))
        atomic_fetch_add(&busy->sum, (new >> ASPX_BUSY_COUNT_BITS) -
                                         (old >> ASPX_BUSY_COUNT_BITS));
}

/* Ticks up to now, the period under way included. */
static inline uint64_t aspx_busy_union_read(struct aspx_busy_union *busy,
                                            uint64_t now)
{
    uint64_t sum = atomic_load(&busy->sum), word = atomic_load(&busy->word);

    if (word & ASPX_BUSY_THREADS)
        sum += aspx_busy_union_later(word, now) -
               (word >> ASPX_BUSY_COUNT_BITS);
    return sum << ASPX_BUSY_UNIT_BITS;
}

#endif
