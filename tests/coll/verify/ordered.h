/* SPDX-License-Identifier: BSD-3-Clause */
/* Are all conflicts of a schedule ordered by its needs? A check of needs.c that
 * shares nothing with it. */
#ifndef ASPEN_TESTS_COLL_VERIFY_ORDERED_H
#define ASPEN_TESTS_COLL_VERIFY_ORDERED_H

#include "common/coll/schedule/schedule.h"

/* Returns 1; 0 with two steps of which one writes what the other touches and
 * that may run at once; or -1 with errno ENOMEM.
 * Cost: O(steps log steps + steps * needs / 64 + overlaps). */
int asp_coll_ordered(const struct asp_coll_schedule *s, uint32_t *one_p,
                     uint32_t *other_p);

#endif
