/* SPDX-License-Identifier: BSD-3-Clause */
/* Walks libmpich's relocations and rewrites those that name an MPI function.
 * ROMIO and others call MPI through the PLT (91 PMPI_ and 99 MPI_ functions in
 * 4.0.2). Rewriting these slots once costs nothing in a call. Looking at return
 * addresses instead would, and would take a tail call of a user's callback for
 * the library's. */
#include "config.h"

#include "plt_patch.h"

#include "image.h"
#include "real.h"

#include <dlfcn.h>
#include <string.h>

static int is_mpi(const char *name)
{
    return strncmp(name, "MPI", 3) == 0 || strncmp(name, "PMPI", 4) == 0;
}

/* Go through what libmpich calls by name. */
static void visit_references(aspx_reference_f *visit, void *context)
{
    struct aspx_image image;

    if (aspx_image_of_handle(aspx_real_library(), &image))
        aspx_image_each(&image, visit, context);
}

static void bind_own(const struct aspx_image *image,
                     const struct aspx_reference *reference, void *unused)
{
    (void) unused;
    if (reference->defined && is_mpi(reference->name))
        aspx_image_store(image, reference->slot, reference->definition);
}

void aspx_plt_patch(void)
{
    static bool done;

    if (!done)
        visit_references(bind_own, NULL);
    done = true;
}

/* All that is led elsewhere, and by whom. Of several the last that came calls
 * the one before it. A slot itself does not say what it calls: before its first
 * use it leads to the dynamic linker. */
static struct led {
    const char *name;
    void *to; /* NULL: nowhere yet */
} all_led[] = {
    {"fi_fabric", NULL},                /* net/ofi.c */
    {"read", NULL},                     /* end_barrier.c */
    {"ucp_disconnect_nb", NULL},        /* tcp_finalize_fix.c */
    {"ucp_dt_create_generic", NULL},    /* pack/messages.c */
    {"ucp_ep_create", NULL},            /* pack/peers.c */
    {"ucp_init_version", NULL},         /* net/ucx.c: ghosts */
    {"ucp_request_is_completed", NULL}, /* tcp_finalize_fix.c */
    {"ucp_tag_probe_nb", NULL},         /* full_tag_mask.c */
    {"ucp_tag_recv_nbx", NULL},         /* full_tag_mask.c */
    {"ucp_worker_create", NULL},        /* net/ucx.c: ghosts */
    {"ucp_worker_destroy", NULL},       /* end_barrier.c */
    {"ucp_worker_get_address", NULL},   /* pack/peers.c */
    /* net/net.c; profile/profile.c; ghosts; in MPI_Finalize end_barrier.c */
    {"ucp_worker_progress", NULL},
};

static struct led *find_led(const char *name)
{
    for (size_t i = 0; i < sizeof(all_led) / sizeof(all_led[0]); i++) {
        if (strcmp(all_led[i].name, name) == 0)
            return &all_led[i];
    }
    return NULL;
}

struct replacement {
    const char *name;
    void *to;
    bool found;
};

static void replace_one(const struct aspx_image *image,
                        const struct aspx_reference *reference, void *context)
{
    struct replacement *wanted = context;

    if (!reference->defined && strcmp(reference->name, wanted->name) == 0)
        wanted->found = aspx_image_store(image, reference->slot, wanted->to);
}

bool aspx_plt_patch_replace(const char *name, void *to)
{
    struct replacement wanted = {.name = name, .to = to};
    struct led *led = find_led(name);

    if (led)
        visit_references(replace_one, &wanted);
    if (wanted.found)
        led->to = to;
    return wanted.found;
}

void *aspx_plt_patch_find(const char *name)
{
    const struct led *led = find_led(name);
    void *found = led && led->to ? led->to : dlsym(RTLD_DEFAULT, name);

    return found ? found : dlsym(aspx_real_library(), name);
}

bool aspx_plt_patch_lead(const char *name, void *to, void *before_p)
{
    void **before = before_p;

    if (*before)
        return true;
    *before = aspx_plt_patch_find(name); /* before it can be called */
    if (*before && !aspx_plt_patch_replace(name, to))
        *before = NULL;
    return *before;
}
