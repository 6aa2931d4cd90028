/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the dynamic linker will find a library for a program, found by reading
 * files: the linker itself is not asked, as it would run what a program's file
 * names (its own linker, the libraries of DT_AUDIT and DT_DEPAUDIT). */
#ifndef ASPEN_TOOLS_BASE_LIBRARY_H
#define ASPEN_TOOLS_BASE_LIBRARY_H

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

/* Does a program ask for this library itself, by that name? Of scripts and
 * other files: no.
 *   program  as given to srun */
bool aspt_library_is_needed(const char *program, const char *name);

#endif
