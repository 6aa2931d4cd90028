/* SPDX-License-Identifier: BSD-3-Clause */
/* Time in MPI, in the record (docs/design/record.md). */
#ifndef ASPEN_RUNTIME_PROFILE_REPORT_H
#define ASPEN_RUNTIME_PROFILE_REPORT_H

#include "common/base/advice.h"

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>

struct aspx_times; /* opaque */

/* What all ranks of a communicator measured, in its rank 0; elsewhere, and
 * without memory anywhere, NULL. Collective, after aspx_profile_stop().
 *   node  of this rank */
struct aspx_times *aspx_times_gather(MPI_Comm comm, uint32_t node);

/* Takes NULL. */
void aspx_times_free(struct aspx_times *times);

/* The share of the ranks' time that they waited in calls of this kind. */
double aspx_times_waited(const struct aspx_times *times,
                         enum asp_advice_kind advice);

/* One line. Takes NULL. */
void aspx_times_print(FILE *to, const struct aspx_times *times);

/* The member "time", with a comma before it. Takes NULL. */
void aspx_times_json(FILE *to, const struct aspx_times *times);

#endif
