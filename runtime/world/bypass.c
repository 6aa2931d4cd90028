/* SPDX-License-Identifier: BSD-3-Clause */
/* Notices programs whose MPI is not the library that we stand in front of:
 * MPICH is linked into them (libmpich.a).
 *
 * Such a program calls no entry of ours. Where there are ghosts it starts MPI
 * with them in its world, and waits for ever for ghosts that wait for it: we
 * cannot translate its calls, but end it with the reason. In other modes it
 * runs plain, and is told. On its way through MPI_Init MPICH calls
 * ucp_init_version(), before it waits for any other process: so that name is
 * ours too. Everybody else's call goes through unseen. */
#include "config.h"

#include "init_state.h"
#include "job_end.h"
#include "manager.h"
#include "runtime/mpi/entry.h"
#include "runtime/mpi/image.h"
#include "runtime/mpi/redirect.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    OTHERS_S = 5, /* for rank 0 to speak: whoever ends first ends the others */
    PASS_ON_US = 100000, /* the launcher drops what it has not passed on */
};

/* As in UCX, whose header need not be installed: the pointers are only handed
 * on, and a status is returned in a register, as an int is. */
typedef int (*init_f)(unsigned major, unsigned minor, const void *params,
                      const void *config, void *context_p);

int ucp_init_version(unsigned major, unsigned minor, const void *params,
                     const void *config, void *context_p);

struct search {
    const void *code; /* an address in the object that is meant */
    bool found;
};

/* Does this object have the names of MPICH's settings in it? */
static int look_for_mpich(struct dl_phdr_info *object, size_t size,
                          void *context)
{
    static const char sign[] = "MPIR_CVAR_";
    struct search *search = context;
    struct aspx_image image;

    (void) size;
    if (!aspx_image_read(object, &image) ||
        !aspx_image_contains(&image, search->code))
        return 0;
    for (size_t i = 0; i < image.nparts && !search->found; i++) {
        const ElfW(Phdr) *part = &image.parts[i];

        if (part->p_type == PT_LOAD && (part->p_flags & PF_R) &&
            !(part->p_flags & PF_W))
            search->found = memmem((const void *) (image.base + part->p_vaddr),
                                   part->p_filesz, sign, strlen(sign)) != NULL;
    }
    return 1;
}

/* Is this code in an MPICH? */
static bool is_mpich(const void *code)
{
    struct search search = {.code = code};

    dl_iterate_phdr(look_for_mpich, &search);
    return search.found;
}

/* Is there a user rank of an Aspen step around this code? */
static bool is_user(void)
{
    const char *role = getenv("ASPEN_ROLE");

    return aspx_redirect_is_wanted() && getenv("PMI_RANK") &&
           (!role || strcmp(role, "user") == 0);
}

static void print_reason(bool ghosts)
{
    fprintf(stderr, "aspen: MPI is linked into this program (libmpich.a): %s\n",
            ghosts ? "Aspen cannot give it a world without ghosts; link it "
                     "with libmpich.so, or run with --async-progress=off"
                   : "running without Aspen");
}

static void part_company(void)
{
    bool ghosts = strstr(getenv("ASPEN_LAYOUT"), " mode=ghost ") != NULL;
    bool first = strcmp(getenv("PMI_RANK"), "0") == 0;

    if (first)
        print_reason(ghosts);
    if (!ghosts)
        return;
    /* Rank 0 may run another program, of which this is not true. */
    if (!first) {
        sleep(OTHERS_S);
        print_reason(ghosts);
    }
    fflush(NULL);
    usleep(PASS_ON_US);
    aspx_manager_note_socket();
    aspx_job_end(false);
}

static init_f find_next(void)
{
    init_f next;
    void *ucp;

    *(void **) &next = dlsym(RTLD_NEXT, "ucp_init_version");
    if (next)
        return next;
    ucp = dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD);
    *(void **) &next = ucp ? dlsym(ucp, "ucp_init_version") : NULL;
    return next;
}

ASPX_EXPORT int ucp_init_version(unsigned major, unsigned minor,
                                 const void *params, const void *config,
                                 void *context_p)
{
    init_f next = find_next();

    if (!aspx_init_seen() && is_user() && is_mpich(__builtin_return_address(0)))
        part_company();
    if (!next) {
        fprintf(stderr, "aspen: ucp_init_version was called, but there is no "
                        "libucp\n");
        abort();
    }
    return next(major, minor, params, config, context_p);
}
