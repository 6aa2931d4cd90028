/* SPDX-License-Identifier: BSD-3-Clause */
/* Step ids from here on are no steps of srun: batch script, the shell of
 * salloc, the extern step. Slurm names them in a header that plugins need not
 * have, SLURM_MAX_NORMAL_STEP_ID in slurm/slurm.h. */
#ifndef ASPEN_SPANK_PLUGIN_SPECIAL_H
#define ASPEN_SPANK_PLUGIN_SPECIAL_H

#include <stdint.h>

#define ASPS_STEP_SPECIAL UINT32_C(0xfffffff0)

#endif
