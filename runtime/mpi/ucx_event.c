/* SPDX-License-Identifier: BSD-3-Clause */
/* UCX's event descriptor, for a process whose MPI did not ask for it. UCX is
 * looked up at run time: no header, no library to link. */
#include "config.h"

#include "ucx_event.h"

#include "plt_patch.h"

#include "common/base/hash.h"

#include <dlfcn.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

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
static arm_f *arm;

static struct {
    void *worker;
    int fd;
    bool usable;
    bool armed; /* by the last aspx_ucx_event_arm() */
    bool asked; /* UCX was initialised with FEATURE_WAKEUP */
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
    if (ucx.worker) { /* a thread cannot wait for one of several */
        aspx_ucx_event_disable();
        return status;
    }
    ucx.worker = *worker_p;
    *(void **) &get_efd = find_ucp("ucp_worker_get_efd");
    *(void **) &arm = find_ucp("ucp_worker_arm");
    ucx.usable = get_efd && arm && get_efd(ucx.worker, &ucx.fd) == STATUS_OK;
    return status;
}

void aspx_ucx_event_start(void)
{
    union {
        init_f *init;
        create_f *create;
        void *pointer;
    } ours_init = {.init = init}, ours_create = {.create = create};

    if (next_init)
        return;
    *(void **) &next_init = aspx_plt_patch_find("ucp_init_version");
    *(void **) &next_create = aspx_plt_patch_find("ucp_worker_create");
    if (next_init && next_create &&
        aspx_plt_patch_replace("ucp_worker_create", ours_create.pointer))
        (void) aspx_plt_patch_replace("ucp_init_version", ours_init.pointer);
}

static uint64_t namespace_of(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 ? st.st_ino : 0;
}

void aspx_ucx_event_place(struct aspx_ucx_place *place)
{
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    char id[64];

    *place = (struct aspx_ucx_place){
        .ipc = namespace_of("/proc/self/ns/ipc"),
        .net = namespace_of("/proc/self/ns/net"),
    };
    if (file && fgets(id, sizeof(id), file))
        place->host = asp_hash(ASP_HASH_START, id, strlen(id));
    if (file)
        fclose(file);
}

bool aspx_ucx_event_unheard(const struct aspx_ucx_place *one,
                            const struct aspx_ucx_place *other)
{
    return one->host == other->host && one->ipc == other->ipc &&
           one->net != other->net;
}

bool aspx_ucx_event_usable(void)
{
    return ucx.usable;
}

void aspx_ucx_event_disable(void)
{
    ucx.usable = false;
}

enum aspx_ucx_wait aspx_ucx_event_arm(void)
{
    int status;

    ucx.armed = false;
    if (!ucx.usable)
        return ASPX_UCX_CANNOT;
    status = arm(ucx.worker);
    ucx.armed = status == STATUS_OK;
    if (status == STATUS_OK)
        return ASPX_UCX_WOKEN;
    if (status == STATUS_BUSY)
        return ASPX_UCX_BUSY;
    ucx.usable = false;
    return ASPX_UCX_CANNOT;
}

enum aspx_ucx_wait aspx_ucx_event_wait(int doorbell, const sigset_t *signals,
                                       uint32_t us)
{
    const struct timespec limit = {us / 1000000, us % 1000000 * 1000};
    struct pollfd fds[] = {{ucx.usable && ucx.armed ? ucx.fd : -1, POLLIN, 0},
                           {doorbell, POLLIN, 0}};
    int n = ppoll(fds, 2, &limit, signals);

    if (n > 0 && (fds[0].revents | fds[1].revents) & POLLNVAL) {
        ucx.usable = false; /* the program has closed it */
        return ASPX_UCX_CANNOT;
    }
    return n == 0 ? ASPX_UCX_TIMED_OUT : ASPX_UCX_WOKEN;
}
