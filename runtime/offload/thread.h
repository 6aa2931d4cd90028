/* SPDX-License-Identifier: BSD-3-Clause */
/* Start and end of the offload thread. */
#ifndef ASPEN_RUNTIME_OFFLOAD_THREAD_H
#define ASPEN_RUNTIME_OFFLOAD_THREAD_H

#include <stdbool.h>

/* Start it on a CPU, -1: wherever. alone: nobody else works on that CPU.
 * Returns 0 or an errno value. */
int aspx_thread_start(int cpu, bool alone);

/* End it, from another thread. */
void aspx_thread_stop(void);

/* The same when the process ends without MPI_Finalize: it may be stuck inside
 * MPI, so wait limit_ms at most. */
void aspx_thread_park(unsigned limit_ms);

/* In the thread: MPI has been started; it makes progress on its own account
 * from now on, and until MPI is about to end. */
void aspx_thread_mpi_runs(void);
void aspx_thread_mpi_ends(void);

/* In the thread: bring the times in aspx_offload_counts up to date. */
void aspx_thread_count(void);

#endif
