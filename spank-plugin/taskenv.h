/* SPDX-License-Identifier: BSD-3-Clause */
/* The environment of tasks. */
#ifndef ASPEN_SPANK_PLUGIN_TASKENV_H
#define ASPEN_SPANK_PLUGIN_TASKENV_H

#include "step.h"

/* Set what task `slot` is to see; for a user task also the SLURM_* variables
 * that count or number tasks, which then describe user tasks only (the true
 * values under ASPEN_*). PMI_* is never touched.
 *   task  what the agent says about it, or NULL
 * Returns 0, or -1 with errno ENOMEM or E2BIG (LD_PRELOAD): then it is not
 * preloaded, and asps_taskenv_clear() takes back the rest. */
int asps_taskenv_set(spank_t spank, const struct asps_step *step, uint32_t slot,
                     const struct asps_answer_task *task);

/* The program runs plain: nothing shall say otherwise. */
void asps_taskenv_clear(spank_t spank);

/* Of the task's environment, once it is set, take out for a ghost what is meant
 * for the dynamic linker and the C library of the program, preloads above all.
 * The rest stays: a TaskProlog, which runs with it, may read any of it.
 * Returns 0, or -1 with errno ENOMEM. */
int asps_taskenv_ghost(spank_t spank, const struct asps_step *step);

/* Show a script or shell in a grown allocation the user's counts. */
void asps_taskenv_script(spank_t spank, const struct asps_step *step);

#endif
