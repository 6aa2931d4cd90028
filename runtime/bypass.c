/* SPDX-License-Identifier: BSD-3-Clause */
/* Notices programs that reach MPI behind our back.
 *
 * Who is bound to libmpich before mpi/redirect.c can see it (a plugin that is
 * loaded with RTLD_DEEPBIND, brings libmpich, and calls it in a constructor)
 * starts MPI with the ghosts in its world, and waits for ever for ghosts that
 * wait for it. We cannot translate its calls; what we can do is end it with the
 * reason. On its way through MPI_Init libmpich calls ucp_init_version() through
 * its PLT, before it waits for any other process: so that name is ours too.
 * Everybody else's call goes through unseen. */
#include "config.h"

#include "mpi/entry.h"
#include "start.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

/* As in UCX, whose header need not be installed: the pointers are only handed
 * on, and a status is returned in a register, as an int is. */
typedef int (*init_f)(unsigned major, unsigned minor, const void *params,
                      const void *config, void *context_p);

int ucp_init_version(unsigned major, unsigned minor, const void *params,
                     const void *config, void *context_p);

/* Is there a user rank of an Aspen step around this code? */
static int is_user(void)
{
    const char *layout = getenv("ASPEN_LAYOUT");
    const char *role = getenv("ASPEN_ROLE");

    return layout && strstr(layout, " mode=ghost ") && getenv("PMI_RANK") &&
           (!role || strcmp(role, "user") == 0) && !getauxval(AT_SECURE);
}

static int is_libmpich(void *code)
{
    Dl_info info;

    return dladdr(code, &info) && info.dli_fname &&
           strstr(info.dli_fname, "/libmpich.so");
}

static init_f find_next(void)
{
    init_f next;
    void *ucp;

    *(void **)&next = dlsym(RTLD_NEXT, "ucp_init_version");
    if (next)
        return next;
    ucp = dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD);
    *(void **)&next = ucp ? dlsym(ucp, "ucp_init_version") : NULL;
    return next;
}

ASPX_EXPORT int ucp_init_version(unsigned major, unsigned minor,
                                 const void *params, const void *config,
                                 void *context_p)
{
    init_f next = find_next();

    if (!aspx_start_seen() && is_user() &&
        is_libmpich(__builtin_return_address(0))) {
        fprintf(stderr, "aspen: MPI_Init of this program does not pass Aspen, "
                "which cannot give it a world without ghosts; link it with "
                "MPI, or run with --async-progress=off\n");
        exit(EXIT_FAILURE);
    }
    if (!next) {
        fprintf(stderr, "aspen: ucp_init_version was called, but there is no "
                "libucp\n");
        abort();
    }
    return next(major, minor, params, config, context_p);
}
