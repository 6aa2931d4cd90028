/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds libmpich in the process, wherever it was loaded from: a program links
 * it, but Python may have loaded it in a scope of its own, where RTLD_NEXT does
 * not look. */
#include "config.h"

#include "real.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <string.h>

#define LIBRARY "libmpich.so.12"

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
    void *handle;

    if (library)
        return 0;
    handle = dlopen(LIBRARY, RTLD_LAZY | RTLD_NOLOAD);
    if (!handle) {
        errno = ENOENT;
        return -1;
    }
    for (size_t i = 0; i < ASPX_CALLS; i++)
        *(void **) &found[i] = dlsym(handle, aspx_real_names[i]);
    /* Only the first to come here tells the truth: then libmpich's symbols may
     * lead to us (redirect.c). No lock is held while the loader is asked. */
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
