/* SPDX-License-Identifier: BSD-3-Clause */
/* Exchanges that need a power of the radix: the ranks are cut into as many
 * intervals, the first of each is its core and acts for the others. Private to
 * common/coll. */
#ifndef ASPEN_COMMON_COLL_CORES_H
#define ASPEN_COMMON_COLL_CORES_H

#include "common/coll/build/maker.h"

struct asp_coll_cores {
    bool is_core;
    struct asp_coll_group group;    /* the cores */
    struct asp_coll_group interval; /* of this rank: its core is index 0 */
    uint32_t first;                 /* of the interval, index of all */
};

/* n if it has no prime factor above k, else the largest power of k below. */
uint32_t asp_coll_cores_count(uint32_t n, uint32_t k);

/* Cut g into count intervals. */
void asp_coll_cores_find(struct asp_coll_maker *m,
                         const struct asp_coll_group *g, uint32_t count,
                         struct asp_coll_cores *cores_p);

/* Fold the vectors of each interval at its core. *own_p: this rank's; becomes
 * the product. into: where that may go. */
void asp_coll_cores_join(struct asp_coll_maker *m,
                         const struct asp_coll_cores *cores,
                         struct asp_coll_place *own_p,
                         struct asp_coll_place into, size_t bytes);

/* Each core sends the result at `at` to its interval. */
void asp_coll_cores_tell(struct asp_coll_maker *m,
                         const struct asp_coll_cores *cores,
                         struct asp_coll_place at, size_t bytes);

#endif
