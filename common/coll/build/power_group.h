/* SPDX-License-Identifier: BSD-3-Clause */
/* Exchanges that need a power of the radix: the ranks are cut into as many
 * intervals, the first of each is a member of the group and acts for the
 * others. Private to common/coll. */
#ifndef ASPEN_COMMON_COLL_BUILD_POWER_GROUP_H
#define ASPEN_COMMON_COLL_BUILD_POWER_GROUP_H

#include "common/coll/build/maker.h"

struct asp_coll_power_group {
    bool is_member;
    struct asp_coll_group group;    /* the members */
    struct asp_coll_group interval; /* of this rank: its member is index 0 */
    uint32_t first;                 /* of the interval, index of all */
};

/* n if it has no prime factor above k, else the largest power of k below. */
uint32_t asp_coll_power_group_count(uint32_t n, uint32_t k);

/* Cut g into count intervals. */
void asp_coll_power_group_find(struct asp_coll_maker *m,
                               const struct asp_coll_group *g, uint32_t count,
                               struct asp_coll_power_group *powers_p);

/* Reduce the vectors of each interval at its member. *own_p: this rank's;
 * becomes the product. into: where that may go. */
void asp_coll_power_group_join(struct asp_coll_maker *m,
                               const struct asp_coll_power_group *powers,
                               struct asp_coll_place *own_p,
                               struct asp_coll_place into, size_t bytes);

/* Each member sends the result at `at` to its interval. */
void asp_coll_power_group_tell(struct asp_coll_maker *m,
                               const struct asp_coll_power_group *powers,
                               struct asp_coll_place at, size_t bytes);

#endif
