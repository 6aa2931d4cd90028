/* SPDX-License-Identifier: BSD-3-Clause */
/* The offload thread's loop; mpi/helper_thread.h ends it. */
#ifndef ASPEN_RUNTIME_OFFLOAD_THREAD_H
#define ASPEN_RUNTIME_OFFLOAD_THREAD_H

#include "command.h"

/* Start it on a CPU, -1: wherever. Returns 0 or an errno value. */
int aspx_thread_start(int cpu, enum aspx_cpus cpus);

/* Carry out work in the caller, alone, as the thread would: it stands aside
 * until that has returned. For calls that load or unload libraries: the caller
 * may be in a constructor or destructor, and then has the loader's lock. */
void aspx_thread_replace(void (*work)(void *argument), void *argument);

/* One turn of the thread's loop, for callbacks in it that wait. */
void aspx_offload_turn(void);

/* In the thread: bring the times in aspx_offload_counts up to date. */
void aspx_thread_count(void);

#endif
