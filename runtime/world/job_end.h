/* SPDX-License-Identifier: BSD-3-Clause */
/* Ends the whole job from a thread of ours, whatever MPI is doing. */
#ifndef ASPEN_RUNTIME_WORLD_JOB_END_H
#define ASPEN_RUNTIME_WORLD_JOB_END_H

#include <stdbool.h>

/* Does not return.
 *   in_mpi  between MPI_Init and MPI_Finalize: MPI_Abort may be called */
_Noreturn void aspx_job_end(bool in_mpi);

#endif
