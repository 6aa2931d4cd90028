/* SPDX-License-Identifier: BSD-3-Clause */
/* The offload thread's loop; own_thread.h ends it. */
#ifndef ASPEN_RUNTIME_OFFLOAD_THREAD_H
#define ASPEN_RUNTIME_OFFLOAD_THREAD_H

#include "command.h"

/* Start it on a CPU, -1: wherever. Returns 0 or an errno value. */
int aspx_thread_start(int cpu, enum aspx_cpus cpus);

/* In the thread: bring the times in aspx_offload_counts up to date. */
void aspx_thread_count(void);

#endif
