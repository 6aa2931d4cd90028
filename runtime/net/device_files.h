/* SPDX-License-Identifier: BSD-3-Clause */
/* The files of the libraries through which MPI reaches its device. Ghosts load
 * those of their ranks, not what their own environment leads to: a script
 * around the program may have set LD_LIBRARY_PATH, or the program has an rpath.
 */
#ifndef ASPEN_RUNTIME_NET_DEVICE_FILES_H
#define ASPEN_RUNTIME_NET_DEVICE_FILES_H

#include "common/base/build_id.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* With it the names of the variables begin that tell a ghost. */
#define ASPX_DEVICE_FILES_ENV "ASPEN_DEVICE_"

enum {
    ASPX_DEVICE_FILES = 5, /* how many there are */
    ASPX_DEVICE_FILE_MAX = PATH_MAX + ASP_BUILD_MAX + 64,
};

/* The variable "NAME=BUILD PATH" of one that this process has loaded. Returns
 * false where it has not. */
bool aspx_device_file_tell(size_t file, char variable[ASPX_DEVICE_FILE_MAX]);

/* Load what such variables of the environment say, before MPI; with a line
 * where that cannot be, or is another build by now. */
void aspx_device_files_load(void);

#endif
