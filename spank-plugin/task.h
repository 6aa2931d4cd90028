/* SPDX-License-Identifier: BSD-3-Clause */
/* In a task, after fork and for good as the user, before Slurm execs. */
#ifndef ASPEN_SPANK_PLUGIN_TASK_H
#define ASPEN_SPANK_PLUGIN_TASK_H

#include "step.h"

/* Make this task what the step says: Slurm, when it goes on, execs the ghost or
 * the program. Does not return if the task cannot become what it must be. */
void asps_task_start(spank_t spank, struct asps_step *step);

/* A batch script or shell in a grown allocation: show it the user's counts. */
void asps_task_script(spank_t spank, const struct asps_step *step);

#endif
