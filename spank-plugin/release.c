/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks SPANK for Slurm's version as text, and turns it into the number that
 * rules compare. */
#include "config.h"

#include "release.h"

#include "common/base/slurm_rules.h"

#include <stddef.h>

const char *asps_release_text(spank_t spank)
{
    char *text = NULL;

    return spank_get_item(spank, S_SLURM_VERSION, &text) == ESPANK_SUCCESS &&
                   text != NULL
               ? text
               : "";
}

uint32_t asps_release(spank_t spank)
{
    uint32_t release = 0;

    asp_slurm_release_parse(asps_release_text(spank), &release);
    return release;
}
