/* SPDX-License-Identifier: BSD-3-Clause */
/* docs/design/run.md says which CPUs are a job's. */
#include "config.h"

#include "cpus.h"

#include "common/base/words.h"

#include <sched.h>

struct asp_cpuset aspt_cpus_own(void)
{
    struct asp_cpuset cpus = {{0}};
    cpu_set_t mask;

    if (sched_getaffinity(0, sizeof(mask), &mask) == 0)
        for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++)
            if (CPU_ISSET(cpu, &mask))
                asp_cpuset_add(&cpus, cpu);
    return cpus;
}

/* Slurm may leave tasks the whole node: more than the step has of it are
 * others', too. */
static const char *doubt_slurm(unsigned count, const char *slurm_cpus)
{
    uint32_t granted;

    if (asp_parse_number(slurm_cpus, ASP_CPUS_MAX, &granted) < 0)
        return "the step's CPUs are not known";
    return count > granted ? "Slurm does not keep the step to its CPUs" : "";
}

/* Under mpiexec a mask that is a part of the machine was made for this job: by
 * taskset, a cpuset, a batch system. All of the machine is what every process
 * has, and the next mpiexec would plan for it, too. */
const char *aspt_cpus_doubt(unsigned count, const struct aspt_cpus_known *known)
{
    if (known->slurm || known->slurm_cpus)
        return doubt_slurm(count, known->slurm_cpus ? known->slurm_cpus : "");
    return count < known->online
               ? ""
               : "other jobs may use all CPUs, too: give this one some of them "
                 "(taskset)";
}
