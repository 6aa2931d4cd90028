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

enum { MAX_REPLACED = 16 }; /* functions; ours are some ten */

struct replacement {
    const char *name; /* a literal */
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

/* What libmpich was led to last, of each function. A slot itself does not say
 * what it calls: before its first use it leads to the dynamic linker. */
static struct replacement replaced[MAX_REPLACED];
static size_t nreplaced;

static struct replacement *replacement_of(const char *name)
{
    for (size_t i = 0; i < nreplaced; i++) {
        if (strcmp(replaced[i].name, name) == 0)
            return &replaced[i];
    }
    return NULL;
}

bool aspx_plt_patch_replace(const char *name, void *to)
{
    struct replacement wanted = {.name = name, .to = to};
    struct replacement *before = replacement_of(name);

    if (!before && nreplaced == MAX_REPLACED)
        return false;
    visit_references(replace_one, &wanted);
    if (!wanted.found)
        return false;
    if (!before)
        before = &replaced[nreplaced++];
    *before = wanted;
    return true;
}

void *aspx_plt_patch_find(const char *name)
{
    const struct replacement *before = replacement_of(name);
    void *found = before ? before->to : dlsym(RTLD_DEFAULT, name);

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
