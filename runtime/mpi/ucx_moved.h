/* SPDX-License-Identifier: BSD-3-Clause */
/* Has a poll moved anything? UCX tells MPICH, which does not tell its callers;
 * we read it on the way. */
#ifndef ASPEN_RUNTIME_MPI_UCX_MOVED_H
#define ASPEN_RUNTIME_MPI_UCX_MOVED_H

#include <stdint.h>

/* After aspx_real_resolve(): have libmpich's polls of UCX led through us. Any
 * thread, but one at a time; idempotent. */
void aspx_ucx_moved_start(void);

/* Changes in each poll that moved something, whoever polled. Stays 0 where
 * MPICH does not poll UCX; knows nothing of what an MPICH with a shared memory
 * of its own moves there. For a caller that is alone inside MPI. */
uint64_t aspx_ucx_moved(void);

#endif
