/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds libmpich in the process, wherever it was loaded from: a program links
 * it, but Python may have loaded it in a scope of its own, where RTLD_NEXT does
 * not look. */
#include "config.h"

#include "real.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <string.h>

#define LIBRARY "libmpich.so.12"

struct aspx_real aspx_real;

static void *library;

static const char *const names[] = {
#include "mpi_real_names.h"
};

_Static_assert(sizeof(names) / sizeof(names[0]) == ASPX_CALLS,
               "one name per function");

const char *aspx_real_name(size_t i)
{
    return names[i];
}

void *aspx_real_library(void)
{
    return library;
}

int aspx_real_resolve(void)
{
    void *handle = library;
    void (*found[ASPX_CALLS])(void);

    if (handle)
        return 0;
    handle = dlopen(LIBRARY, RTLD_LAZY | RTLD_NOLOAD);
    if (!handle) {
        errno = ENOENT;
        return -1;
    }
    for (size_t i = 0; i < ASPX_CALLS; i++)
        *(void **)&found[i] = dlsym(handle, names[i]);
    memcpy(&aspx_real, found, sizeof(found));
    library = handle;
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
