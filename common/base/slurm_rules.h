/* SPDX-License-Identifier: BSD-3-Clause */
/* What differs between releases of Slurm in how it counts tasks and CPUs: one
 * table, asked by rule and not by number. docs/design/counting.md says where in
 * Slurm each comes from. */
#ifndef ASPEN_COMMON_BASE_SLURM_RULES_H
#define ASPEN_COMMON_BASE_SLURM_RULES_H

#include <stdbool.h>
#include <stdint.h>

enum asp_slurm_rule {
    /* srun in an allocation takes -c from SLURM_CPUS_PER_TASK. */
    ASP_SLURM_STEP_READS_CPUS,
    /* --mincpus gives a job whose number of tasks is given so many CPUs on each
     * node; else it only chooses nodes that have them. */
    ASP_SLURM_MINCPUS_ADDS,
    /* With -O a job that gets whole nodes may have more tasks than these have
     * CPUs; else it waits for ever. */
    ASP_SLURM_OVERCOMMITS_NODES,
    ASP_SLURM_NRULES
};

/* A release as one number that compares, 0xYYMMPP; 0: not known. */
#define ASP_SLURM_RELEASE(year, month, patch)                                  \
    ((uint32_t) (year) << 16 | (month) << 8 | (patch))

/* "24.11.5", as Slurm itself prints it; what follows ("-0rc1") is not looked
 * at. Returns 0, or -1 when it is not of that form; *out_p is untouched then.
 * Threads: reentrant. */
int asp_slurm_release_parse(const char *text, uint32_t *out_p);

/* Does the rule hold in that release? One that is not known is taken for the
 * oldest that Aspen runs with, 22.05. Threads: reentrant. */
bool asp_slurm_has(uint32_t release, enum asp_slurm_rule rule);

#endif
