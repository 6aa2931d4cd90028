/* SPDX-License-Identifier: BSD-3-Clause */
/* Steps that are special: by their id, or by what Slurm runs in them. */
#ifndef ASPEN_SPANK_PLUGIN_SPECIAL_H
#define ASPEN_SPANK_PLUGIN_SPECIAL_H

#include <stdint.h>

/* Step ids from here on are no steps of srun: batch script, the shell of
 * salloc, the extern step. Slurm names them in a header that plugins need not
 * have, SLURM_MAX_NORMAL_STEP_ID in slurm/slurm.h. */
#define ASPS_STEP_SPECIAL UINT32_C(0xfffffff0)

/* Steps in which the task that Slurm starts cannot be made a ghost: see
 * docs/design/privilege.md, "Who starts a ghost". */
#define ASPS_NO_CONTAINER                                                      \
    "ghosts cannot run in a container (--container): use "                     \
    "--async-progress=offload, thread or off"
#define ASPS_NO_MULTI_PROG                                                     \
    "--multi-prog names programs by task id, which ghosts shift: start them "  \
    "with one srun each, or use --async-progress=off"

#endif
