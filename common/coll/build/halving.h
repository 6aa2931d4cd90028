/* SPDX-License-Identifier: BSD-3-Clause */
/* Recursive halving of a vector among a power of two of ranks, and doubling
 * back. Private to common/coll. */
#ifndef ASPEN_COMMON_COLL_BUILD_HALVING_H
#define ASPEN_COMMON_COLL_BUILD_HALVING_H

#include "common/coll/build/maker.h"

struct asp_coll_halving {
    struct asp_coll_maker *m;
    const struct asp_coll_group *g; /* a power of two */
    const size_t *at;               /* offsets of g->n blocks */
    /* Neighbours first: intervals of ranks are reduced, so operands keep their
     * order, and rank i ends with block "bits of i reversed". Else those far
     * away first, for operations that commute, and it ends with block i. */
    bool near;
};

/* Block of the result that rank i ends with. */
uint32_t asp_coll_halving_block(const struct asp_coll_halving *h, uint32_t i);

/* own: the vector, offsets as at[]; written only if writable. land: where the
 * block may come to. Returns where it is. */
struct asp_coll_place asp_coll_halving_down(const struct asp_coll_halving *h,
                                            struct asp_coll_place own,
                                            bool writable,
                                            struct asp_coll_place land);

/* Each rank's block is in its place in the vector at `into`: get the rest. */
void asp_coll_halving_up(const struct asp_coll_halving *h,
                         struct asp_coll_place into);

#endif
