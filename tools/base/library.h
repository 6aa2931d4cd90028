/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the dynamic linker will find a library for a program, found by reading
 * files: the linker itself is not asked, as it would run what a program's file
 * names (its own linker, the libraries of DT_AUDIT and DT_DEPAUDIT). */
#ifndef ASPEN_TOOLS_BASE_LIBRARY_H
#define ASPEN_TOOLS_BASE_LIBRARY_H

#include "common/base/mpi_kind.h"

#include <limits.h>
#include <stdbool.h>

/* The file that a program gets as a library, in this environment (LD_PRELOAD,
 * LD_LIBRARY_PATH), as the linker of glibc looks for it.
 *   program  a path
 *   name     as in DT_NEEDED and DT_SONAME: "libmpich.so.12"
 * Returns false where that cannot be told: no program for this machine, another
 * linker than this process's own, a search that took more than two seconds or
 * met what is not followed here ($LIB, $PLATFORM, damaged files), or no such
 * library. Not looked into: folders glibc-hwcaps. */
bool aspt_library_find(const char *program, const char *name,
                       char path[PATH_MAX]);

/* Which MPI a program gets, told by what the library defines, and its file. Of
 * several the one that counts (asp_mpi_kind_is_better()); ASP_MPI_NONE where
 * that cannot be told, as above, and path is undefined then.
 *   program  as given to srun */
enum asp_mpi_kind aspt_library_find_mpi(const char *program,
                                        char path[PATH_MAX]);

#endif
