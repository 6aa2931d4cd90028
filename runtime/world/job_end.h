/* SPDX-License-Identifier: BSD-3-Clause */
/* Ends the whole job from a thread of ours, whatever MPI is doing. */
#ifndef ASPEN_RUNTIME_WORLD_JOB_END_H
#define ASPEN_RUNTIME_WORLD_JOB_END_H

#include <stdbool.h>

/* Does not return.
 *   in_mpi  between MPI_Init and MPI_Finalize: MPI_Abort may be called */
_Noreturn void aspx_job_end(bool in_mpi);

/* The same where each rank may have the reason, `what`, and one line is enough:
 * the first rank says it, the others only if they are still there seconds
 * later, since the first may run another program, of which it is not true. */
_Noreturn void aspx_job_end_saying(const char *what, bool first, bool in_mpi);

#endif
