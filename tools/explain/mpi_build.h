/* SPDX-License-Identifier: BSD-3-Clause */
/* Which MPI a program will run with, as far as that can be told from here: for
 * the record of an earlier run, which may be of another one. */
#ifndef ASPEN_TOOLS_EXPLAIN_MPI_BUILD_H
#define ASPEN_TOOLS_EXPLAIN_MPI_BUILD_H

#include "common/base/build_id.h"

/* The build of the MPI library that the dynamic linker finds for a program, as
 * it would in a job with this environment.
 *   program  as given to srun
 * Nothing that the program's file names is run.
 * Returns 0, or -1 when that cannot be told: scripts, other machines' programs,
 * programs with another dynamic linker, libraries without a build id. */
int aspt_mpi_build(const char *program, char out[ASP_BUILD_MAX]);

#endif
