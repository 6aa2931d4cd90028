/* SPDX-License-Identifier: BSD-3-Clause */
/* The offload thread's loop; own_thread.h ends it. */
#ifndef ASPEN_RUNTIME_OFFLOAD_THREAD_H
#define ASPEN_RUNTIME_OFFLOAD_THREAD_H

#include <stdbool.h>

/* Start it on a CPU, -1: wherever. apart: as for aspx_command_start(). Returns 0
 * or an errno value. */
int aspx_thread_start(int cpu, bool apart);

/* In the thread: bring the times in aspx_offload_counts up to date. */
void aspx_thread_count(void);

#endif
