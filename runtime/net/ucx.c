/* SPDX-License-Identifier: BSD-3-Clause */
/* UCX. Its worker has a file descriptor to wait for, which MPICH does not ask
 * for (UCP_FEATURE_WAKEUP): we ask in its place. Its transports look at the
 * receiver they send to, and signal only one that has armed. UCX is looked up
 * at run time: no header, no library to link. */
#include "config.h"

#include "kind.h"

#include "runtime/mpi/plt_patch.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

enum {
    /* Of UCX's binary interface, unchanged since 1.4. */
    FIELD_FEATURES = 1 << 0,
    FEATURE_WAKEUP = 1 << 4,
    STATUS_OK = 0,
    STATUS_BUSY = -15,
    /* The parameters lie on the stack of MPICH's function, a few calls up: less
     * far than this. Elsewhere they might be read-only. */
    STACK_NEAR = 1 << 16,
};

/* How ucp_params_t begins. */
struct params {
    uint64_t field_mask;
    uint64_t features;
};

typedef int init_f(unsigned major, unsigned minor, const void *params,
                   const void *config, void *context_p);
typedef int create_f(void *context, const void *params, void **worker_p);
typedef int get_efd_f(void *worker, int *fd_p);
typedef int arm_f(void *worker);

static init_f *next_init;
static create_f *next_create;
static arm_f *arm_worker;

static struct {
    void *worker;
    int fd;
    bool asked;  /* UCX was initialised with FEATURE_WAKEUP */
    bool usable; /* the worker has a descriptor */
    bool several;
} ucx = {.fd = -1};

static bool may_change(const struct params *params)
{
    uintptr_t here = (uintptr_t) __builtin_frame_address(0);
    uintptr_t there = (uintptr_t) params;

    return there > here && there - here < STACK_NEAR &&
           params->field_mask & FIELD_FEATURES;
}

/* The parameters may be longer than our idea of them, so they are changed where
 * they lie and not copied. */
static int init(unsigned major, unsigned minor, const void *params,
                const void *config, void *context_p)
{
    struct params *changed = (struct params *) (uintptr_t) params;
    uint64_t features = changed->features;
    int status;

    if (ucx.asked || !may_change(changed))
        return next_init(major, minor, params, config, context_p);
    changed->features |= FEATURE_WAKEUP;
    status = next_init(major, minor, params, config, context_p);
    changed->features = features;
    ucx.asked = status == STATUS_OK;
    return ucx.asked ? status
                     : next_init(major, minor, params, config, context_p);
}

static void *find_ucp(const char *name)
{
    void *ucp = dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD);

    return ucp ? dlsym(ucp, name) : NULL;
}

static int create(void *context, const void *params, void **worker_p)
{
    int status = next_create(context, params, worker_p);
    get_efd_f *get_efd;

    if (status != STATUS_OK || !ucx.asked)
        return status;
    ucx.several |= ucx.worker != NULL;
    if (ucx.several) /* a thread cannot wait for one of them */
        return status;
    ucx.worker = *worker_p;
    *(void **) &get_efd = find_ucp("ucp_worker_get_efd");
    *(void **) &arm_worker = find_ucp("ucp_worker_arm");
    ucx.usable = get_efd && arm_worker &&
                 get_efd(ucx.worker, &ucx.fd) == STATUS_OK;
    return status;
}

static void enter(enum aspx_net_use use)
{
    if (use < ASPX_NET_WAITED)
        return;
    *(void **) &next_init = aspx_plt_patch_find("ucp_init_version");
    *(void **) &next_create = aspx_plt_patch_find("ucp_worker_create");
    if (next_init && next_create &&
        aspx_plt_patch_replace("ucp_worker_create", create))
        (void) aspx_plt_patch_replace("ucp_init_version", init);
}

static bool is_open(void)
{
    return ucx.worker != NULL;
}

static bool lead_polls(aspx_net_poll_f *front, aspx_net_poll_f **before_p)
{
    return aspx_plt_patch_lead("ucp_worker_progress", front, before_p);
}

static enum aspx_net_deaf deaf(void)
{
    if (ucx.several)
        return ASPX_NET_SEVERAL;
    return ucx.usable ? ASPX_NET_HEARS : ASPX_NET_NO_EVENTS;
}

static enum aspx_net_wait arm(void)
{
    switch (arm_worker(ucx.worker)) {
    case STATUS_OK:
        return ASPX_NET_WOKEN;
    case STATUS_BUSY:
        return ASPX_NET_BUSY;
    default:
        return ASPX_NET_CANNOT;
    }
}

static size_t descriptors(int fds[ASPX_NET_QUEUES_MAX])
{
    fds[0] = ucx.fd;
    return 1;
}

const struct aspx_net_kind aspx_net_ucx = {
    .netmod = "ucx",
    .enter = enter,
    .is_open = is_open,
    .lead_polls = lead_polls,
    .deaf = deaf,
    .arm = arm,
    .descriptors = descriptors,
};
