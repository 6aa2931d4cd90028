/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASPEN_RUNTIME_BASE_MEMORY_LEFT_H
#define ASPEN_RUNTIME_BASE_MEMORY_LEFT_H

#include <stdint.h>

/* Bytes that can still be had before the kernel ends a process for it: what the
 * machine has available, or less where a memory cgroup (v1 or v2) that this
 * process is in, or one above it, has a limit. Pages of files count as left,
 * since they are given up first. UINT64_MAX: nothing is known. A moment later
 * it may be less. Cost: some files of /proc and /sys are read.  Threads: any.
 */
uint64_t aspx_memory_left(void);

#endif
