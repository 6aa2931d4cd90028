/* SPDX-License-Identifier: BSD-3-Clause */
/* Which MPI this process runs with, for the record. */
#ifndef ASPEN_RUNTIME_MPI_BUILD_H
#define ASPEN_RUNTIME_MPI_BUILD_H

/* "MPICH Version: 4.0.2", as the library calls itself; and its build, in the
 * form of common/base/build_id.h. After aspx_real_resolve(); MPI need not run.
 * Results are static. Threads: one. */
const char *aspx_mpi_name(void);
const char *aspx_mpi_build(void);

#endif
