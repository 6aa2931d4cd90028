/* SPDX-License-Identifier: BSD-3-Clause */
/* slurmstepd: root until the tasks. See docs/design/privilege.md. */
#ifndef ASPEN_SPANK_PLUGIN_STEPD_H
#define ASPEN_SPANK_PLUGIN_STEPD_H

#include <slurm/spank.h>

/* All return 0: Slurm drains nodes over some failures. */
int asps_stepd_init(spank_t spank, int argc, char **argv);
int asps_stepd_user_init(spank_t spank);
int asps_stepd_task_init(spank_t spank); /* may not return */
int asps_stepd_task_exit(spank_t spank);
int asps_stepd_exit(void);

#endif
