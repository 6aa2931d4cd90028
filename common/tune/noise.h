/* SPDX-License-Identifier: BSD-3-Clause */
/* How calls of a collective vary, as it was measured; for noise_test.c. */
#ifndef ASPEN_COMMON_TUNE_NOISE_H
#define ASPEN_COMMON_TUNE_NOISE_H

#include <stdbool.h>
#include <stdint.h>

enum { NOISE_QUANTILES = 9 };

/* Of calls that follow one another, over their median. A call is slow if it
 * takes more than 1.5 times that; slow ones come in rows. */
struct noise_shape {
    const char *name;
    double slow;  /* share */
    double again; /* share of slow ones behind a slow one */
    /* At 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99: of the others, of
     * slow ones. */
    double body[NOISE_QUANTILES], tail[NOISE_QUANTILES];
};

extern const struct noise_shape noise_shapes[]; /* the last has no name */

struct noise_state {
    uint64_t random;
    bool slow;
};

/* The factor of the next call. */
double noise_next(const struct noise_shape *shape, struct noise_state *state);

#endif
