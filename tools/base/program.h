/* SPDX-License-Identifier: BSD-3-Clause */
/* The file of a program that srun is about to start. Nothing of it is run. */
#ifndef ASPEN_TOOLS_BASE_PROGRAM_H
#define ASPEN_TOOLS_BASE_PROGRAM_H

#include <limits.h>
#include <stdbool.h>

/* A name with a slash is a path; others are looked for along PATH. Returns
 * whether it was found; path is undefined if not.
 *   program  as given to srun */
bool aspt_program_find(const char *program, char path[PATH_MAX]);

/* Open it for reading, if it is a regular file: opening others could have
 * effects, or wait. Returns a descriptor to be closed, or -1. */
int aspt_program_open(const char *path);

/* Is MPICH itself in the program's file (libmpich.a)? Then there is no library
 * that Aspen could stand in front of, and ghosts could not be hidden.
 *   program  as given to srun */
bool aspt_program_has_mpich(const char *program);

/* Does the program get rights that its caller has not (setuid, setgid, file
 * capabilities)? Then the dynamic linker takes no library of LD_PRELOAD for
 * it, nor for what it starts. No where the file system or the process has such
 * rights switched off.
 *   program  as given to srun */
bool aspt_program_gains_rights(const char *program);

#endif
