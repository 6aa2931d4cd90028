/* SPDX-License-Identifier: BSD-3-Clause */
/* Running another program, as the caller, with a bounded output and a deadline:
 * in srun, sbatch and salloc, and in `aspen run`. Never used in slurmstepd. */
#ifndef ASPEN_COMMON_BASE_CHILD_H
#define ASPEN_COMMON_BASE_CHILD_H

#include <stddef.h>

/* Run argv[0] (a path) with the caller's environment, stdin from /dev/null,
 * and collect what it prints; what does not fit is dropped.
 *   out, err     always terminated
 *   timeout_ms   then it is killed
 *   status_p     as of waitpid()
 * Returns 0, or -1 with errno ETIMEDOUT or that of pipe, fork. A program that
 * cannot be executed ends with status 127. */
int asp_child_run(char *const argv[], int timeout_ms, char *out,
                  size_t out_bytes, char *err, size_t err_bytes, int *status_p);

#endif
