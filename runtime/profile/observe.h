/* SPDX-License-Identifier: BSD-3-Clause */
/* Mode off with a report: plain MPI, but for the layer that takes its time
 * (profile/), and the record of it. */
#ifndef ASPEN_RUNTIME_PROFILE_OBSERVE_H
#define ASPEN_RUNTIME_PROFILE_OBSERVE_H

#include "runtime/world/mode.h"

extern const struct aspx_mode aspx_observe_mode;

#endif
