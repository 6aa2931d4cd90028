/* SPDX-License-Identifier: BSD-3-Clause */
/* The CPUs of a node's tasks: which they have, and whether they are theirs. */
#ifndef ASPEN_TOOLS_TASK_CPUS_H
#define ASPEN_TOOLS_TASK_CPUS_H

#include "common/base/cpuset.h"

#include <stdbool.h>

/* The affinity mask of this process. */
struct asp_cpuset aspt_cpus_own(void);

/* What is known of a node beside the CPUs that its tasks have together. */
struct aspt_cpus_known {
    bool slurm;             /* srun started the tasks */
    const char *slurm_cpus; /* SLURM_CPUS_ON_NODE; NULL: not set */
    unsigned online;        /* CPUs of the machine that are switched on */
};

/* Why these CPUs may be others', too, so that nothing is to be bound to them;
 * "": they are the job's.
 *   count  of the CPUs that the tasks have together, 1 or more */
const char *aspt_cpus_doubt(unsigned count,
                            const struct aspt_cpus_known *known);

#endif
