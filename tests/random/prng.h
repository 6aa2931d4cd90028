/* SPDX-License-Identifier: BSD-3-Clause */
/* The random numbers of the generator: splitmix64, the same everywhere. */
#ifndef ASPEN_TESTS_RANDOM_PRNG_H
#define ASPEN_TESTS_RANDOM_PRNG_H

#include <stdint.h>

struct prng {
    uint64_t state;
};

static inline uint64_t prng_next(struct prng *prng)
{
    uint64_t z = prng->state += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* 0 .. below-1 */
static inline int prng_below(struct prng *prng, int below)
{
    return (int) (prng_next(prng) >> 33) % below;
}

/* low .. high, both included */
static inline int prng_range(struct prng *prng, int low, int high)
{
    return low + prng_below(prng, high - low + 1);
}

static inline int prng_chance(struct prng *prng, int percent)
{
    return prng_below(prng, 100) < percent;
}

#endif
