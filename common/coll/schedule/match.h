/* SPDX-License-Identifier: BSD-3-Clause */
/* Which SEND meets which RECV, and which steps wait for which: the schedules of
 * all ranks as one graph, for verifier and simulator. */
#ifndef ASPEN_COMMON_COLL_SCHEDULE_MATCH_H
#define ASPEN_COMMON_COLL_SCHEDULE_MATCH_H

#include "common/base/err.h"
#include "common/coll/schedule/schedule.h"

struct asp_coll_graph {
    uint32_t ranks;
    const struct asp_coll_schedule *schedules; /* borrowed */
    uint32_t nsteps;
    uint32_t *base;      /* ranks + 1: number of a rank's first step */
    uint32_t *partner;   /* by number: the other end of a message, or itself */
    uint32_t *waits;     /* by number: needs that have not ended */
    uint32_t *first;     /* nsteps + 1: where the followers of a step begin */
    uint32_t *followers; /* numbers of the steps that need a step */
};

/* Returns 0, or -1 with errno ENOMEM, E2BIG (2^31 steps) or EINVAL (a message
 * with one end, or two lengths) and rank and step in err.
 * Free with asp_coll_graph_destroy(). Cost: O(steps log steps). */
int asp_coll_graph_make(const struct asp_coll_schedule *schedules,
                        uint32_t ranks, struct asp_coll_graph *graph_p,
                        struct asp_err *err);

void asp_coll_graph_destroy(struct asp_coll_graph *graph);

#endif
