/* SPDX-License-Identifier: BSD-3-Clause */
/* Time in MPI of this process: a layer in front of whatever else the entries
 * lead to, which is there only when somebody asked, the record or adaptation.
 * docs/design/profile.md says what is measured, and what it means. */
#ifndef ASPEN_RUNTIME_PROFILE_PROFILE_H
#define ASPEN_RUNTIME_PROFILE_PROFILE_H

#include "runtime/mpi/real.h"

#include <stdbool.h>

/* Measure from now on, when MPI runs and before the entries are switched
 * (mpi/entry.h). Idempotent. */
void aspx_profile_start(void);

/* Before that: the threads that wait in MPI are not those that poll.
 *   many  several may wait at once */
void aspx_profile_waits_elsewhere(bool many);

/* Total seconds in MPI of this process up to now, running call included; of
 * several threads, the time in which at least one was inside. 0 without
 * aspx_profile_start(). Threads: any. */
double aspx_profile_mpi_seconds(void);

/* What is behind the layer; and the layer (generated). */
extern struct aspx_real aspx_profile_behind
    __attribute__((visibility("hidden")));
void aspx_profile_fill(struct aspx_real *table);

/* No call of the program counts any more: MPI_Finalize. */
void aspx_profile_stop(void);

/* From start to stop; 0 if it was never started. */
double aspx_profile_wall_seconds(void);

/* Give the CPU away while waiting for others. */
void aspx_profile_yield(void);

#endif
