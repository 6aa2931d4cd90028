/* SPDX-License-Identifier: BSD-3-Clause */
/* srun. */
#ifndef ASPEN_SPANK_PLUGIN_LOCAL_H
#define ASPEN_SPANK_PLUGIN_LOCAL_H

#include <slurm/spank.h>

int asps_local_init(spank_t spank, int argc, char **argv);
int asps_local_init_post_opt(spank_t spank, int argc, char **argv);
int asps_local_user_init(spank_t spank, int argc, char **argv);

#endif
