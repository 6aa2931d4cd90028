/* SPDX-License-Identifier: BSD-3-Clause */
/* The layout of a node without agent, because it is lost or, in mode off, not
 * needed: roles only. The text form is that of common/layout/layout.h, which
 * the plugin may not link. */
#ifndef ASPEN_SPANK_PLUGIN_DEGRADED_H
#define ASPEN_SPANK_PLUGIN_DEGRADED_H

#include "step.h"

/* Returns the text, owned by the caller, or NULL with errno ENOMEM. */
char *asps_degraded_layout(const struct asps_step *step);

#endif
