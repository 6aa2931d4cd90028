/* SPDX-License-Identifier: BSD-3-Clause */
/* The direction in which a thread rounds: where a caller waits for a reduction
 * the offload thread rounds as the caller does. */
#ifndef ASPEN_RUNTIME_OFFLOAD_ROUNDING_H
#define ASPEN_RUNTIME_OFFLOAD_ROUNDING_H

/* Before the first use, when MPI's library is known. */
void aspx_rounding_start(void);

/* As fegetround(). */
int aspx_rounding(void);

/* Change it; returns what it was. Cheap where that is the same. */
int aspx_rounding_become(int direction);

#endif
