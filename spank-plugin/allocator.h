/* SPDX-License-Identifier: BSD-3-Clause */
/* sbatch and salloc. */
#ifndef ASPEN_SPANK_PLUGIN_ALLOCATOR_H
#define ASPEN_SPANK_PLUGIN_ALLOCATOR_H

#include <slurm/spank.h>

int asps_allocator_init(spank_t spank, int argc, char **argv);
int asps_allocator_init_post_opt(spank_t spank, int argc, char **argv);

#endif
