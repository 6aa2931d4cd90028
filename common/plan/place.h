/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside the plan: which cores the helpers get, which run of cores each user
 * gets. Knows nothing of ranks, modes or layouts; plan.c does. */
#ifndef ASPEN_COMMON_PLAN_PLACE_H
#define ASPEN_COMMON_PLAN_PLACE_H

#include "plan.h"
#include "topo.h"

#include <stdbool.h>
#include <stdint.h>

struct asp_place {
    uint32_t ncores; /* of the step: with at least one CPU of it */
    uint32_t nhelpers;
    uint32_t *helpers; /* core of each helper, ascending but for pack */
    uint32_t nfree;
    uint32_t *free_cores; /* for users, ascending */
    uint32_t nusers;
    uint32_t *first; /* of each user: index into free_cores */
    uint32_t run;    /* cores of each user */
    bool whole;      /* cores that the step has in part stay idle */
    bool shared;     /* the helpers' cores are in free_cores, too */
};

/* Place users and helpers.
 *   out_p  zeroed by the caller; asp_place_clear() also after failure
 * Returns 0, or -1 with errno ENOSPC (fewer cores than needed: out_p->ncores
 * has their number) or ENOMEM.  Cost: O(nhelpers * ncores). */
int asp_place(const struct asp_topo *topo, uint32_t nusers, uint32_t nhelpers,
              enum asp_spread spread, bool share, struct asp_place *out_p);

void asp_place_clear(struct asp_place *place);

#endif
