/* SPDX-License-Identifier: BSD-3-Clause */
/* What MPI a file is, if it is one. Nothing of it is run, and nothing that it
 * says of itself is followed beyond its end. */
#ifndef ASPEN_COMMON_BASE_MPI_FILE_H
#define ASPEN_COMMON_BASE_MPI_FILE_H

#include "mpi_kind.h"

/* By the table of symbols that a 64-bit ELF file of this machine's byte order
 * gives to the dynamic linker. Of all else, and of what cannot be opened as a
 * regular file: ASP_MPI_NONE. Opening waits for nobody. */
enum asp_mpi_kind asp_mpi_of_file(const char *path);

#endif
