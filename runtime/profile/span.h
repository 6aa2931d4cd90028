/* SPDX-License-Identifier: BSD-3-Clause */
/* For how long at least one thread has been inside. How many there are and
 * since when are one word, so that whoever is the last to leave knows when the
 * first came. */
#ifndef ASPEN_RUNTIME_PROFILE_SPAN_H
#define ASPEN_RUNTIME_PROFILE_SPAN_H

#include <stdatomic.h>
#include <stdint.h>

struct aspx_span {
    _Atomic uint64_t word; /* since << COUNT | threads inside */
    _Atomic uint64_t sum;  /* of the ended ones, in units */
};

/* 65535 threads; and 52 bits of ticks, which last for weeks. */
enum { ASPX_SPAN_COUNT = 16, ASPX_SPAN_UNIT = 4 };

static inline uint64_t aspx_span_units(uint64_t word, uint64_t now)
{
    uint64_t since = word >> ASPX_SPAN_COUNT;

    now >>= ASPX_SPAN_UNIT;
    return now > since ? now - since : 0; /* another thread's now may be later */
}

/* Ticks count from the start of the program, or they do not fit. */
static inline void aspx_span_enter(struct aspx_span *span, uint64_t now)
{
    uint64_t old = atomic_load(&span->word), new;

    do
        new = old ? old + 1 : (now >> ASPX_SPAN_UNIT) << ASPX_SPAN_COUNT | 1;
    while (!atomic_compare_exchange_weak(&span->word, &old, new));
}

static inline void aspx_span_leave(struct aspx_span *span, uint64_t now)
{
    const uint64_t one = (UINT64_C(1) << ASPX_SPAN_COUNT) - 1;
    uint64_t old = atomic_load(&span->word), new;

    do
        new = (old & one) == 1 ? 0 : old - 1;
    while (!atomic_compare_exchange_weak(&span->word, &old, new));
    if (new == 0)
        atomic_fetch_add(&span->sum, aspx_span_units(old, now));
}

/* Ticks up to now. */
static inline uint64_t aspx_span_read(struct aspx_span *span, uint64_t now)
{
    uint64_t sum = atomic_load(&span->sum), word = atomic_load(&span->word);

    return (sum + (word ? aspx_span_units(word, now) : 0)) << ASPX_SPAN_UNIT;
}

#endif
