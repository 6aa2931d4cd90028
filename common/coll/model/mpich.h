/* SPDX-License-Identifier: BSD-3-Clause */
/* What MPICH would do, as a configuration of ours: to say how a choice
 * compares. A model of the rules that MPICH documents with its control
 * variables (release 4.0), with their default limits. Its algorithms inside of
 * a node are taken as binomial trees, and pairwise exchange as flat alltoall,
 * which is not slower. */
#ifndef ASPEN_COMMON_COLL_MODEL_MPICH_H
#define ASPEN_COMMON_COLL_MODEL_MPICH_H

#include "common/coll/build/index.h"

/* Returns 0, or -1 with errno ENOMEM or EINVAL. */
int asp_coll_mpich(const struct asp_coll_problem *problem,
                   struct asp_coll_config *config_p, struct asp_err *err);

/* The algorithms that MPICH has for an operation, as texts of configurations;
 * NULL ends them. */
const char *const *asp_coll_mpich_configs(enum asp_coll_op op);

#endif
