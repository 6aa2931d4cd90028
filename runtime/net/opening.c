/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp_init_version() and fi_fabric(), exported; see opening.h. Of fi_fabric()
 * libfabric has two versions: the old one is of 1.0 to 1.4, and MPICH 4 wants
 * 1.5 or later, so the other one is meant. */
#include "config.h"

#include "opening.h"

#include "runtime/base/log.h"
#include "runtime/mpi/entry.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdbool.h>
#include <stdlib.h>

/* As in UCX and libfabric, whose headers need not be included: pointers are
 * only handed on, and a status is returned in a register, as an int is. */
typedef int ucp_init_f(unsigned major, unsigned minor, const void *params,
                       const void *config, void *context_p);
typedef int fabric_f(void *attr, void *fabric_p, void *context);

ucp_init_f ucp_init_version;
fabric_f fi_fabric;

static bool is_ours(const void *function)
{
    return function == (const void *) ucp_init_version ||
           function == (const void *) fi_fabric;
}

/* As the caller's library finds it: it may have one of its own, or one that
 * only it sees (Python). */
static void *find_from(const void *code, const char *name)
{
    Dl_info caller;
    void *handle = dladdr(code, &caller)
                       ? dlopen(caller.dli_fname, RTLD_LAZY | RTLD_NOLOAD)
                       : NULL;
    void *found = handle ? dlsym(handle, name) : NULL;

    if (handle)
        dlclose(handle);
    return found;
}

static void *find_next(const void *code, const char *library, const char *name)
{
    void *next = find_from(code, name), *handle;

    if (!next || is_ours(next))
        next = dlsym(RTLD_NEXT, name);
    if (next)
        return next;
    handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    next = handle ? dlsym(handle, name) : NULL;
    if (!next) {
        aspx_log(ASPX_LOG_ERROR, "%s was called, but there is no %s", name,
                 library);
        abort();
    }
    return next;
}

ASPX_EXPORT int ucp_init_version(unsigned major, unsigned minor,
                                 const void *params, const void *config,
                                 void *context_p)
{
    const void *code = __builtin_return_address(0);
    ucp_init_f *next;

    aspx_net_opening(code);
    *(void **) &next = find_next(code, "libucp.so.0", "ucp_init_version");
    return next(major, minor, params, config, context_p);
}

ASPX_EXPORT int fi_fabric(void *attr, void *fabric_p, void *context)
{
    const void *code = __builtin_return_address(0);
    fabric_f *next;

    aspx_net_opening(code);
    *(void **) &next = find_next(code, "libfabric.so.1", "fi_fabric");
    return next(attr, fabric_p, context);
}
