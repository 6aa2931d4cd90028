/* SPDX-License-Identifier: BSD-3-Clause */
/* Time in MPI of this process: a layer in front of whatever else the entries
 * lead to, which is there only when somebody asked, the record or adaptation.
 * docs/design/profile.md says what is measured, and what it means. */
#ifndef ASPEN_RUNTIME_PROFILE_PROFILE_H
#define ASPEN_RUNTIME_PROFILE_PROFILE_H

#include "runtime/mpi/entry.h"

#include <stdbool.h>

/* It starts if the layout asks for a record, or after aspx_profile_start(). */
extern const struct aspx_interceptor aspx_profile_interceptor;

/* Measure from now on, when MPI runs and before the interceptors start.
 * Idempotent. */
void aspx_profile_start(void);

/* Before that: the threads that wait in MPI are not those that poll.
 *   many  several may wait at once */
void aspx_profile_waits_elsewhere(bool many);

/* Total seconds in MPI of this process up to now, running call included; of
 * several threads, the time in which at least one was inside. 0 without
 * aspx_profile_start(). Threads: any. */
double aspx_profile_mpi_seconds(void);

/* No call of the program counts any more: MPI_Finalize. */
void aspx_profile_stop(void);

/* From start to stop; 0 if it was never started. */
double aspx_profile_wall_seconds(void);

/* Give the CPU away while waiting for others. */
void aspx_profile_yield(void);

#endif
