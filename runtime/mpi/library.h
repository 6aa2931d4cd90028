/* SPDX-License-Identifier: BSD-3-Clause */
/* Which MPI libraries this process has loaded: the program links one, Python
 * and others load one in a scope of its own, where RTLD_NEXT does not look.
 * They are told by what they define (common/base/mpi_kind.h), whatever their
 * files are called. An MPI that is linked into the program itself is none:
 * nothing can stand in front of it (world/bypass.c). */
#ifndef ASPEN_RUNTIME_MPI_LIBRARY_H
#define ASPEN_RUNTIME_MPI_LIBRARY_H

#include "common/base/mpi_kind.h"

#include <limits.h>
#include <stddef.h>

struct aspx_mpi_library {
    enum asp_mpi_kind kind;
    char path[PATH_MAX]; /* as the dynamic linker knows it */
};

/* The one that counts where there are several (asp_mpi_kind_is_better()).
 * Returns whether there is one; kind is ASP_MPI_NONE if not. Takes the loader's
 * lock of its list of objects, and no other. Threads: any. */
bool aspx_mpi_library_find(struct aspx_mpi_library *library);

/* Another that is loaded beside it, of whatever kind that no tool may be;
 * likewise. */
bool aspx_mpi_library_find_second(const struct aspx_mpi_library *first,
                                  struct aspx_mpi_library *second);

/* Its dlopen() handle. NULL when it was unloaded. */
void *aspx_mpi_library_open(const struct aspx_mpi_library *library);

/* "Open MPI v4.1.4 (libmpi.so.40)", as it calls itself and as its file is
 * called; MPI need not run. */
void aspx_mpi_library_name(const struct aspx_mpi_library *library, char *name,
                           size_t bytes);

#endif
