/* SPDX-License-Identifier: BSD-3-Clause */
/* What MPI a library is, told by the names that it defines: those of files say
 * nothing (libmpi.so.12 may be MPICH's or Intel's, libmpich.so.12 is what
 * Debian makes of it). One table answers for loaded libraries
 * (runtime/mpi/library.h) and for files (base/mpi_file.h). */
#ifndef ASPEN_COMMON_BASE_MPI_KIND_H
#define ASPEN_COMMON_BASE_MPI_KIND_H

#include <stdbool.h>

enum asp_mpi_kind {
    ASP_MPI_NONE,
    ASP_MPI_MPICH,    /* handles and constants of MPICH's binary interface */
    ASP_MPI_OPEN,     /* Open MPI */
    ASP_MPI_STANDARD, /* the standard's own interface (MPI 5.0, 20) */
    ASP_MPI_OTHER,    /* another interface */
    ASP_MPI_PLAIN,    /* whatever has no PMPI_X beside MPI_X; or a tool */
    ASP_MPI_KINDS
};

/* Of several libraries in a process or behind a program, is this the one that
 * tells more? One of MPICH's is never passed over for what stands before it. Of
 * those of one kind, the first.
 *   before  the kind of the best so far */
static inline bool asp_mpi_kind_is_better(enum asp_mpi_kind kind,
                                          enum asp_mpi_kind before)
{
    return kind != ASP_MPI_NONE && (before == ASP_MPI_NONE || kind < before);
}

/* Does the library define this name, as one that others may use? */
typedef bool asp_mpi_defines_f(const void *library, const char *name);

enum asp_mpi_kind asp_mpi_kind(asp_mpi_defines_f *defines, const void *library);

/* "Open MPI", as part of a sentence. */
const char *asp_mpi_kind_name(enum asp_mpi_kind kind);

/* Why Aspen leaves it alone, likewise: "Aspen works with MPICH". */
const char *asp_mpi_kind_aspens(enum asp_mpi_kind kind);

/* Has a launcher set what such an MPI joins this process to others by? Without
 * it the process is a job of its own. */
bool asp_mpi_kind_joins(enum asp_mpi_kind kind);

#endif
