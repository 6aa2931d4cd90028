/* SPDX-License-Identifier: BSD-3-Clause */
/* Which ranks sit on which node of a step: computed on every node from what
 * Slurm tells all of them, so that no message is needed. The caller is the
 * agent, and `aspen explain`. */
#ifndef ASPEN_COMMON_PLAN_STEP_RANKS_H
#define ASPEN_COMMON_PLAN_STEP_RANKS_H

#include "common/base/err.h"
#include "common/layout/layout.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The ranks of every node of one step. */
struct asp_step_ranks {
    uint32_t ntasks;
    uint32_t nnodes;
    struct asp_layout_node *nodes; /* owned; names are "" */
};

/* Compute the ranks of all nodes.
 *   tasks_per_node  as Slurm writes it: "3(x2),2"
 *   distribution    SLURM_DISTRIBUTION: "block", "cyclic", "plane=4",
 *                   "block:cyclic", ... ; only the part about nodes counts;
 *                   NULL or "" is block
 *   plane_size      SLURM_DIST_PLANESIZE; 0: from distribution
 *   out_p           owned by the caller, asp_step_ranks_destroy()
 * Returns 0, or -1 with errno EINVAL (text), E2BIG (beyond ASP_*_MAX),
 * ENOTSUP (arbitrary: the order cannot be computed), ENOMEM. */
int asp_step_ranks_compute(const char *tasks_per_node, const char *distribution,
                           uint32_t plane_size, struct asp_step_ranks **out_p,
                           struct asp_err *err);

/* Are these the ranks computed for that node? ranks ascend.
 * Returns 0, or -1 with errno EINVAL and both lists in err. */
int asp_step_ranks_verify(const struct asp_step_ranks *steps, uint32_t node,
                          const uint32_t *ranks, uint32_t nranks,
                          struct asp_err *err);

/* As compute, then verify; when the distribution as announced gives other
 * ranks, tries the remaining ones (block, cyclic, plane) and takes the one
 * that fits this node. Same errors, EINVAL when none fits. */
int asp_step_ranks_find(const char *tasks_per_node, const char *distribution,
                        uint32_t plane_size, uint32_t node,
                        const uint32_t *ranks, uint32_t nranks,
                        struct asp_step_ranks **out_p, struct asp_err *err);

/* Which ranks of the step are ghosts, the last ones of each node: ntasks flags,
 * for the caller to free(); NULL with errno ENOMEM. */
bool *asp_step_ranks_ghosts(const struct asp_step_ranks *steps,
                            uint32_t ghosts);

/* Parse "0-2,5" into ascending ranks; count_p: in the size, out the number.
 * Returns 0, or -1 with errno EINVAL. */
int asp_ranks_parse(const char *text, uint32_t *ranks, uint32_t *count_p);

/* Takes NULL; keeps errno. */
void asp_step_ranks_destroy(struct asp_step_ranks *steps);

#endif
