/* SPDX-License-Identifier: BSD-3-Clause */
/* Takes MPI's functions from the library that this process has loaded. */
#include "config.h"

#include "real.h"

#include "library.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct aspx_real aspx_real;

static void *_Atomic library;

const char *const aspx_real_names[] = {
#include "mpi_real_names.h"
};

void *aspx_real_library(void)
{
    return library;
}

int aspx_real_resolve(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    void (*found[ASPX_CALLS])(void);
    struct aspx_mpi_library loaded;
    void *handle;

    if (library)
        return 0;
    handle = aspx_mpi_library_find(&loaded) ? aspx_mpi_library_open(&loaded)
                                            : NULL;
    if (!handle || loaded.kind != ASP_MPI_MPICH) {
        errno = handle ? EPROTO : ENOENT;
        return -1;
    }
    for (size_t i = 0; i < ASPX_CALLS; i++)
        *(void **) &found[i] = dlsym(handle, aspx_real_names[i]);
    /* Only the first to come here tells the truth: then the library's symbols
     * may lead to us (redirect.c). No lock is held while the loader is asked.
     */
    pthread_mutex_lock(&lock);
    if (!library) {
        memcpy(&aspx_real, found, sizeof(found));
        library = handle;
    }
    pthread_mutex_unlock(&lock);
    return 0;
}

bool aspx_real_has(const void *address)
{
    struct link_map *map;
    Dl_info info;

    return dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 &&
           dladdr(address, &info) != 0 &&
           (ElfW(Addr)) info.dli_fbase == map->l_addr;
}

int aspx_real_path(char path[PATH_MAX])
{
    struct link_map *map;

    if (!library || dlinfo(library, RTLD_DI_LINKMAP, &map) != 0 ||
        !map->l_name[0])
        return -1;
    if (!realpath(map->l_name, path))
        snprintf(path, PATH_MAX, "%s", map->l_name);
    return 0;
}
