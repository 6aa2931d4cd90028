/* SPDX-License-Identifier: BSD-3-Clause */
/* The release of the Slurm that loaded the plugin. It is asked, not compiled
 * in: Slurm takes a plugin that was built for another patch release of its own.
 */
#ifndef ASPEN_SPANK_PLUGIN_RELEASE_H
#define ASPEN_SPANK_PLUGIN_RELEASE_H

#include <slurm/spank.h>
#include <stdint.h>

/* "24.11.5", in Slurm's own memory; "" when it does not say. */
const char *asps_release_text(spank_t spank);

/* As asp_slurm_has() takes it; 0: not known. */
uint32_t asps_release(spank_t spank);

#endif
