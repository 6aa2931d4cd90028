/* SPDX-License-Identifier: BSD-3-Clause */
/* Mode off with a report: plain MPI, but for the layer that takes its time
 * (profile/), and the record of it. */
#ifndef ASPEN_RUNTIME_PROFILE_OBSERVE_H
#define ASPEN_RUNTIME_PROFILE_OBSERVE_H

#include "common/layout/layout.h"

/* Tell what the user asked for. Inside MPI, before MPI_Finalize; collective
 * over MPI_COMM_WORLD when asked for, else nothing. */
void aspx_observe_report(const struct asp_layout *layout);

#endif
