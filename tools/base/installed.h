/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the files of this installation are. A tree that was copied elsewhere is
 * found by the program's own place in it, so that users can take a copy along.
 */
#ifndef ASPEN_TOOLS_BASE_INSTALLED_H
#define ASPEN_TOOLS_BASE_INSTALLED_H

#include <limits.h>

enum aspt_file {
    ASPT_FILE_TASK,    /* aspen-task */
    ASPT_FILE_GHOST,   /* aspen-ghost */
    ASPT_FILE_RUNTIME, /* libaspen.so */
    ASPT_FILE_HEAP,    /* libaspenheap.so */
    ASPT_FILES
};

/* Threads: reentrant. Whether the file is there is not looked at. */
void aspt_installed(enum aspt_file file, char path[PATH_MAX]);

#endif
