/* SPDX-License-Identifier: BSD-3-Clause */
/* What the launcher tells a task of the step's counts, ranks and CPUs in its
 * environment. Programs and scripts read it; with helpers in the step they must
 * find the user tasks only. The plugin changes it through Slurm
 * (spank-plugin/taskenv.c), aspen-task in its own process (tools/task/env.c).
 *
 * Threads: as the functions that reach the environment. */
#ifndef ASPEN_COMMON_TASK_VARS_H
#define ASPEN_COMMON_TASK_VARS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How to reach the environment of a task. */
struct asp_environment {
    /* Copy a value. Returns whether the variable is set and fits. */
    bool (*get)(void *owner, const char *name, char *buf, size_t size);
    void (*set)(void *owner, const char *name, const char *value);
    void (*unset)(void *owner, const char *name);
    void *owner; /* first argument of them; may be NULL */
};

/* A user task and its step; all is borrowed. */
struct asp_task_counts {
    uint32_t ghosts;            /* per node */
    uint32_t ntasks;            /* of the step, ghosts among them */
    uint32_t nnodes;            /* of the step */
    uint32_t nlocal;            /* tasks of this node, ghosts among them */
    uint32_t local;             /* this task among them */
    const uint32_t *ranks_user; /* nlocal of them, or NULL: not known */
};

void asp_task_vars_number(const struct asp_environment *env, const char *name,
                          uint32_t value);

/* Renumber what Slurm, or mpiexec, counts and numbers: variables that are set,
 * and whose true values stay as ASPEN_X for SLURM_X. PMI_RANK and PMI_SIZE are
 * MPI's own and stay. Without memory nothing is changed. */
void asp_task_vars_renumber(const struct asp_environment *env,
                            const struct asp_task_counts *counts, bool slurm);

/* Give a task the CPUs that its user asked for.
 *   user   as -c said; 0: there was none
 *   total  what was made of it for the helpers
 * Returns whether the environment says total; only then it is changed. */
bool asp_task_vars_cpus(const struct asp_environment *env, uint32_t user,
                        uint32_t total);

/* Is "NAME=value" for the dynamic linker or the C library? A ghost runs without
 * those of the program. */
bool asp_is_of_loader(const char *variable);

/* Take out all that Aspen tells a task of itself: the program runs plain. */
void asp_task_vars_clear(const struct asp_environment *env);

#endif
