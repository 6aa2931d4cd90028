/* SPDX-License-Identifier: BSD-3-Clause */
/* Slurm's --tres-per-task and SLURM_TRES_PER_TASK: "cpu=4,gres/gpu=1".
 * From 23.11 on -c is also written there; 23.11 has "cpu:4", later releases
 * "cpu=4". */
#ifndef ASPEN_COMMON_BASE_TRES_H
#define ASPEN_COMMON_BASE_TRES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The number of CPUs in text, 0: none is said. *others_p: is there more?
 * Threads: reentrant. */
uint32_t asp_tres_cpus(const char *text, bool *others_p);

/* Write text to buf with `to` for the number of CPUs, or without CPUs where
 * `to` is 0. Returns the bytes that are written, without the end ("" is
 * possible), or -1 when they do not fit. Threads: reentrant. */
int asp_tres_set_cpus(const char *text, uint32_t to, char *buf, size_t size);

#endif
