/* SPDX-License-Identifier: BSD-3-Clause */
/* The record of a job with progress threads. */
#ifndef ASPEN_RUNTIME_PROGRESS_REPORT_H
#define ASPEN_RUNTIME_PROGRESS_REPORT_H

#include "common/layout.h"

#include <stdbool.h>

/* Sum over all ranks and tell what the user asked for, when the helper has
 * ended and before MPI_Finalize; collective over MPI_COMM_WORLD when asked for,
 * else nothing. */
void aspx_progress_report(const struct asp_layout *layout, bool has_thread);

#endif
