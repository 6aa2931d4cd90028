/* SPDX-License-Identifier: BSD-3-Clause */
/* For how long at least one thread has been inside. How many there are and
 * since when are one word, so that whoever is the last to leave knows when the
 * first came; and when there is none, when the last one left, so that one who
 * read the clock before that and comes only now does not count that time
 * again. */
#ifndef ASPEN_RUNTIME_PROFILE_BUSY_UNION_H
#define ASPEN_RUNTIME_PROFILE_BUSY_UNION_H

#include <stdatomic.h>
#include <stdint.h>

struct aspx_span {
    _Atomic uint64_t word; /* since << COUNT | threads inside */
    _Atomic uint64_t sum;  /* of the ended ones, in units */
};

/* 65535 threads; and 54 bits of ticks, which last for two months. */
enum {
    ASPX_SPAN_COUNT = 16,
    ASPX_SPAN_UNIT = 6,
    ASPX_SPAN_THREADS = (1 << ASPX_SPAN_COUNT) - 1
};

/* The later of now and the word's time, in units: other threads' readings of
 * the clock may be later than ours. */
static inline uint64_t aspx_span_later(uint64_t word, uint64_t now)
{
    now >>= ASPX_SPAN_UNIT;
    return now > word >> ASPX_SPAN_COUNT ? now : word >> ASPX_SPAN_COUNT;
}

/* Ticks count from the start of the program, or they do not fit. */
static inline void aspx_span_enter(struct aspx_span *span, uint64_t now)
{
    uint64_t old = atomic_load(&span->word), new;

    do
        new = old &ASPX_SPAN_THREADS
                  ? old + 1
                  : aspx_span_later(old, now) << ASPX_SPAN_COUNT | 1;
    while (!atomic_compare_exchange_weak(&span->word, &old, new));
}

static inline void aspx_span_leave(struct aspx_span *span, uint64_t now)
{
    uint64_t old = atomic_load(&span->word), new;

    do
        new = (old & ASPX_SPAN_THREADS) > 1
                  ? old - 1
                  : aspx_span_later(old, now) << ASPX_SPAN_COUNT;
    while (!atomic_compare_exchange_weak(&span->word, &old, new));
    if (!(new &ASPX_SPAN_THREADS))
        atomic_fetch_add(&span->sum,
                         (new >> ASPX_SPAN_COUNT) - (old >> ASPX_SPAN_COUNT));
}

/* Ticks up to now. */
static inline uint64_t aspx_span_read(struct aspx_span *span, uint64_t now)
{
    uint64_t sum = atomic_load(&span->sum), word = atomic_load(&span->word);

    if (word & ASPX_SPAN_THREADS)
        sum += aspx_span_later(word, now) - (word >> ASPX_SPAN_COUNT);
    return sum << ASPX_SPAN_UNIT;
}

#endif
