/* SPDX-License-Identifier: BSD-3-Clause */
/* Preloaded by bench/arming: asks UCX for wake-ups on behalf of MPICH if
 * ARMING_WAKEUP is set, and gives arming_app the worker's calls. Only what of
 * UCX's interface is needed is declared: its headers need not be installed. */
#define _GNU_SOURCE
#include "arming.h"

#include <dlfcn.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>

enum { FEATURE_WAKEUP = 1 << 4, STATUS_OK = 0 };

/* The begin of ucp_params_t. */
struct params {
    uint64_t field_mask, features;
};

ARMING_EXPORT int ucp_init_version(unsigned major, unsigned minor,
                                   struct params *params, const void *config,
                                   void **context_p);
ARMING_EXPORT int ucp_worker_create(void *context, const void *params,
                                    void **worker_p);

static void *worker;
static int fd = -1;

static void *find(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

int ucp_init_version(unsigned major, unsigned minor, struct params *params,
                     const void *config, void **context_p)
{
    int (*next)(unsigned, unsigned, struct params *, const void *,
                void **) = find("ucp_init_version");

    if (getenv("ARMING_WAKEUP"))
        params->features |= FEATURE_WAKEUP;
    return next(major, minor, params, config, context_p);
}

int ucp_worker_create(void *context, const void *params, void **worker_p)
{
    int (*next)(void *, const void *, void **) = find("ucp_worker_create");
    int rc = next(context, params, worker_p);

    if (!worker)
        worker = *worker_p;
    return rc;
}

bool arming_arm(void)
{
    static int (*arm)(void *), (*get_fd)(void *, int *);

    if (!arm) {
        arm = find("ucp_worker_arm");
        get_fd = find("ucp_worker_get_efd");
        if (get_fd(worker, &fd) != STATUS_OK)
            abort();
    }
    return arm(worker) == STATUS_OK;
}

bool arming_wait(int ms)
{
    struct pollfd event = {.fd = fd, .events = POLLIN};

    return poll(&event, 1, ms) == 1;
}
