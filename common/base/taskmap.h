/* SPDX-License-Identifier: BSD-3-Clause */
/* Which task of a step runs on which node, from what Slurm writes into the
 * step's environment: counts per node ("4(x2),3") and the way of dealing. Slurm
 * deals task ids in one of a few ways, and each of them is "so many ids to each
 * node in turn". */
#ifndef ASPEN_COMMON_BASE_TASKMAP_H
#define ASPEN_COMMON_BASE_TASKMAP_H

#include "err.h"
#include "limits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One "4(x2)" or "4", and the comma behind it, at *text_p, which moves on.
 *   least, most  bounds of the count
 *   times_p      out: nodes that have it, 1..ASP_NODES_MAX
 * Returns 0, or -1 with errno EINVAL. */
int asp_counts_next(const char **text_p, uint32_t least, uint32_t most,
                    uint32_t *count_p, uint32_t *times_p);

/* All of them: "3(x2),2" is 3, 3, 2.
 *   counts  room for max numbers
 * Returns how many there are, or -1 with errno EINVAL (form) or ENOSPC. */
int asp_counts_parse(const char *text, uint32_t least, uint32_t most,
                     uint32_t *counts, uint32_t max);

/* Counts per node, "4(x2),3", with less taken off each: 1 gives "3(x2),2".
 * Returns the length, or -1 with errno EINVAL (form, or a count that is not
 * larger than less), ENOSPC. */
int asp_counts_less(const char *text, uint32_t less, char *buf, size_t size);

/* Ids that each node gets per turn when all of its tasks come at once. */
enum { ASP_TURN_BLOCK = ASP_TASKS_MAX };

/* Ids that each node gets per turn.
 *   distribution  SLURM_DISTRIBUTION: "block", "cyclic", "plane=4",
 *                 "block:cyclic", ...: only the part about nodes counts; NULL,
 *                 "" and "*" are block
 *   plane_size    SLURM_DIST_PLANESIZE; 0: from distribution
 * Returns 0 with errno EINVAL when it cannot be known, ENOTSUP for arbitrary.
 */
uint32_t asp_taskmap_turn(const char *distribution, uint32_t plane_size,
                          struct asp_err *err);

enum { ASP_TURNS = 4 };

/* The ways to try where the ranks of a node are known, as Slurm does not always
 * name the one it took: that of asp_taskmap_turn() first, whose error is left
 * in errno and err, then the others; 0 is none. */
void asp_taskmap_turns(const char *distribution, uint32_t plane_size,
                       uint32_t turns[ASP_TURNS], struct asp_err *err);

/* A step whose ids are dealt. */
struct asp_deal {
    const uint32_t *counts; /* tasks by node, at least 1 */
    uint32_t nnodes;
    /* Takes the next id for a node, as its local task `local`; false ends it.
     */
    bool (*give)(void *context, uint32_t node, uint32_t local, uint32_t id);
    void *context;
    uint64_t looks; /* added to: looks at nodes and tasks */
};

/* Deal ids 0, 1, ... until all tasks have one, or give() says no.
 * Returns 0, or -1 with errno ENOMEM. Cost: two looks per task at most. */
int asp_taskmap_deal(struct asp_deal *deal, uint32_t turn);

#endif
