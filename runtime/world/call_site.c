/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the first caller outside of MPI. The stack is unwound, rather than one
 * return address taken, because Fortran calls arrive by way of MPI's Fortran
 * library. Offsets are those of the file: the same in every process, wherever
 * it was loaded. */
#include "config.h"

#include "call_site.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { FRAMES = 24 };

static struct aspx_call_site kept;
static bool (*uses_kept)(void);

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* libmpich.so.12, libmpichfort.so.12 and their kin; libaspen.so is known by
 * this very function. */
static bool is_mpi(const Dl_info *info)
{
    static const char name[] = "libmpi";
    Dl_info own;

    if (dladdr((void *) (uintptr_t) aspx_call_site_find, &own) &&
        own.dli_fbase == info->dli_fbase)
        return true;
    return strncmp(last_part(info->dli_fname), name, sizeof(name) - 1) == 0;
}

void aspx_call_site_find(struct aspx_call_site *site)
{
    void *frames[FRAMES];
    int n;

    if (uses_kept && uses_kept()) {
        *site = kept;
        return;
    }
    n = backtrace(frames, FRAMES);
    *site = (struct aspx_call_site){.place = ""};
    for (int i = 1; i < n; i++) {
        /* The address is that of the return: look at the call. */
        char *at = (char *) frames[i] - 1;
        struct link_map *map = NULL;
        Dl_info info;

        if (!dladdr1(at, &info, (void **) &map, RTLD_DL_LINKMAP) || !map ||
            !info.dli_fname || is_mpi(&info))
            continue;
        snprintf(site->place, sizeof(site->place), "%.56s+0x%llx",
                 last_part(info.dli_fname),
                 (unsigned long long) ((uintptr_t) at - map->l_addr));
        if (info.dli_sname)
            snprintf(site->function, sizeof(site->function), "%.30s:%.47s",
                     last_part(info.dli_fname), info.dli_sname);
        return;
    }
}

void aspx_call_site_keep(void)
{
    aspx_call_site_find(&kept);
}

void aspx_call_site_use_kept(bool (*when)(void))
{
    uses_kept = when;
}
