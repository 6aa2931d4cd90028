/* SPDX-License-Identifier: BSD-3-Clause */
/* /proc/self/exe against the configured directories. */
#include "config.h"

#include "installed.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *const files[ASPT_FILES] = {
    [ASPT_FILE_TASK] = ASPEN_LIBEXECDIR "/aspen-task",
    [ASPT_FILE_GHOST] = ASPEN_LIBEXECDIR "/aspen-ghost",
    [ASPT_FILE_RUNTIME] = ASPEN_LIBDIR "/libaspen.so",
    [ASPT_FILE_HEAP] = ASPEN_LIBDIR "/libaspenheap.so",
};

/* What a file below the configured prefix is called there, else NULL. */
static const char *below_prefix(const char *file)
{
    size_t len = strlen(ASPEN_PREFIX);

    return strncmp(file, ASPEN_PREFIX, len) == 0 && file[len] == '/'
               ? file + len
               : NULL;
}

/* Cut a program's path where this installation's prefix ends. Returns whether
 * it is one of ours. */
static int cut_prefix(char *program)
{
    static const char *const programs[] = {ASPEN_BINDIR "/aspen",
                                           ASPEN_LIBEXECDIR "/aspen-task"};
    size_t len = strlen(program);

    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
        const char *name = below_prefix(programs[i]);
        size_t tail = name ? strlen(name) : len + 1;

        if (tail > len || strcmp(program + len - tail, name) != 0)
            continue;
        program[len - tail] = '\0';
        return 1;
    }
    return 0;
}

void aspt_installed(enum aspt_file file, char path[PATH_MAX])
{
    const char *name = below_prefix(files[file]);
    char self[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);

    if (len > 0 && name) {
        self[len] = '\0';
        if (cut_prefix(self) &&
            snprintf(path, PATH_MAX, "%s%s", self, name) < PATH_MAX)
            return;
    }
    snprintf(path, PATH_MAX, "%s", files[file]);
}
