/* SPDX-License-Identifier: BSD-3-Clause */
/* For cli_filter.lua in srun. Slurm 22.05 takes any -c that replaces a smaller
 * one for a step that asks for more than its job, and says "Job step may never
 * run". Where we replace the user's, that is false, and nothing in Lua's reach
 * prevents it: so stderr is away for that one assignment. */
#include "config.h"

#include "filter.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

/* Called twice, before and after, by package.loadlib() and as a lua_CFunction
 * without results: no part of Lua is needed. */
__attribute__((visibility("default"))) int aspen_hush(void *lua);

int aspen_hush(void *lua)
{
    static bool quiet;
    static int kept = -1;
    int null;

    (void) lua;
    quiet = !quiet;
    if (!quiet && kept >= 0) {
        dup2(kept, STDERR_FILENO);
        close(kept);
        kept = -1;
    }
    if (!quiet)
        return 0;
    null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (null < 0)
        return 0;
    kept = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (kept >= 0)
        dup2(null, STDERR_FILENO);
    close(null);
    return 0;
}

void asps_filter_name_plugin(const char *variable)
{
    Dl_info info;

    if (dladdr((void *) (uintptr_t) aspen_hush, &info) != 0 &&
        info.dli_fname != NULL)
        setenv(variable, info.dli_fname, 1);
}
