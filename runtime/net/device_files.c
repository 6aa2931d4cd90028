/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks the dynamic linker by the names that the libraries have in themselves,
 * by which it also finds them loaded when MPI needs them. */
#include "config.h"

#include "device_files.h"

#include "runtime/mpi/build.h"

#include "runtime/base/log.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One behind those that it needs: it would bring in others. */
static const char *const names[ASPX_DEVICE_FILES] = {
    "libucm.so.0", "libucs.so.0",    "libuct.so.0",
    "libucp.so.0", "libfabric.so.1",
};

/* Its build; where it has none, a word that is none. */
static const struct link_map *map_of(void *handle, char build[ASP_BUILD_MAX])
{
    struct link_map *map;

    if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0)
        return NULL;
    if (!aspx_build_of(map->l_ld, build))
        strcpy(build, "unknown");
    return map;
}

bool aspx_device_file_tell(size_t file, char variable[ASPX_DEVICE_FILE_MAX])
{
    void *handle = dlopen(names[file], RTLD_LAZY | RTLD_NOLOAD);
    char build[ASP_BUILD_MAX], path[PATH_MAX];
    const struct link_map *map = handle ? map_of(handle, build) : NULL;

    if (map)
        snprintf(variable, ASPX_DEVICE_FILE_MAX, "%s%s=%s %s",
                 ASPX_DEVICE_FILES_ENV, names[file], build,
                 realpath(map->l_name, path) ? path : map->l_name);
    if (handle)
        dlclose(handle);
    return map != NULL;
}

/* The build that its ranks have, and its path. */
static void load(char theirs[ASP_BUILD_MAX], const char *path)
{
    void *handle = dlopen(path, RTLD_LAZY | RTLD_GLOBAL);
    char build[ASP_BUILD_MAX];

    if (!handle)
        aspx_log(ASPX_LOG_WARNING,
                 "a library of the ranks cannot be loaded into the ghost, "
                 "which takes what it finds: %.300s",
                 dlerror());
    else if (map_of(handle, build) && asp_build_differs(theirs, build))
        aspx_log(ASPX_LOG_WARNING,
                 "%.200s is another build here (%.30s...) than in the ranks of "
                 "this node (%.30s...): was it replaced while the job started?",
                 path, build, theirs);
}

void aspx_device_files_load(void)
{
    char variable[64], build[ASP_BUILD_MAX];

    for (size_t i = 0; i < ASPX_DEVICE_FILES; i++) {
        const char *told, *path;

        snprintf(variable, sizeof(variable), "%s%s", ASPX_DEVICE_FILES_ENV,
                 names[i]);
        told = getenv(variable);
        path = told ? strchr(told, ' ') : NULL;
        if (!path)
            continue;
        snprintf(build, sizeof(build), "%.*s", (int) (path - told), told);
        load(build, path + 1);
    }
}
