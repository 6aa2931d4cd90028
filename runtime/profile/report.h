/* SPDX-License-Identifier: BSD-3-Clause */
/* Time in MPI, in the record (docs/design/record.md). */
#ifndef ASPEN_RUNTIME_PROFILE_REPORT_H
#define ASPEN_RUNTIME_PROFILE_REPORT_H

#include "common/base/advice.h"

extern const struct aspx_section aspx_times_section;

/* The share of the ranks' time that they waited in calls of this kind.
 *   times  what that section has gathered */
double aspx_times_waited(const void *times, enum asp_advice_kind advice);

#endif
