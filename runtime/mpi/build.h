/* SPDX-License-Identifier: BSD-3-Clause */
/* Which MPI this process runs with, for the record. */
#ifndef ASPEN_RUNTIME_MPI_BUILD_H
#define ASPEN_RUNTIME_MPI_BUILD_H

#include "common/base/build_id.h"

#include <stdbool.h>

/* The GNU build id of the loaded object that has this address, in that header's
 * form. Returns false where it has none. Threads: any. */
bool aspx_build_of(const void *inside, char build[ASP_BUILD_MAX]);

/* "MPICH Version: 4.0.2", as the library calls itself; and its build, in the
 * form of common/base/build_id.h. After aspx_real_resolve(); MPI need not run.
 * Results are static. Threads: one. */
const char *aspx_mpi_name(void);
const char *aspx_mpi_build(void);

/* 402 for MPICH 4.2.1; 0 when it calls itself something else. */
int aspx_mpi_release(void);

/* NULL, or why nothing of Aspen but the translation of ranks can be trusted in
 * this process, as part of a sentence: its MPI is not of a release that Aspen
 * knows.
 * Handles, internal windows and patches are only known to hold there. */
const char *aspx_mpi_unknown(void);

#endif
