/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs whose MPI is not a library that we can stand in front of: MPICH is
 * linked into them (libmpich.a), or their MPI has another binary interface
 * (Open MPI, the standard's). They run plain, and one line says which MPI was
 * found; but where there are ghosts among the ranks of their job they would
 * find them, and wait for ever for ghosts that wait for them: such a job is
 * ended with the reason.
 *
 * Another library is met at the first call (aspx_entry_other_mpi). A program
 * with MPICH in it calls no entry of ours; but on its way through MPI_Init
 * MPICH opens its device (net/opening.h), before it waits for any other
 * process. Everybody else's opening goes through unseen. */
#include "config.h"

#include "init_state.h"
#include "job_end.h"
#include "manager.h"
#include "runtime/base/log.h"
#include "runtime/mpi/entry.h"
#include "runtime/mpi/image.h"
#include "runtime/mpi/library.h"
#include "runtime/mpi/redirect.h"
#include "runtime/net/opening.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    /* Names of settings in an object's file. MPICH has some 340; who sets a few
     * has a few. */
    SETTINGS_MIN = 100,
};

struct search {
    const void *code;   /* an address in the object that is meant */
    const char *object; /* its file; "" is the program itself */
    bool found;
};

/* Has this read-only part of an object the names of MPICH's settings? */
static bool has_settings(const char *part, size_t bytes)
{
    static const char sign[] = "MPIR_CVAR_";
    const char *end = part + bytes;
    unsigned n = 0;

    while (n < SETTINGS_MIN &&
           (part = memmem(part, (size_t) (end - part), sign, strlen(sign)))) {
        part += strlen(sign);
        n++;
    }
    return n == SETTINGS_MIN;
}

/* Is MPICH in this object? */
static int look_for_mpich(struct dl_phdr_info *object, size_t size,
                          void *context)
{
    struct search *search = context;
    struct aspx_image image;

    (void) size;
    if (!aspx_image_read(object, &image) ||
        !aspx_image_contains(&image, search->code))
        return 0;
    search->object = object->dlpi_name;
    for (size_t i = 0; i < image.nparts && !search->found; i++) {
        const ElfW(Phdr) *part = &image.parts[i];

        if (part->p_type == PT_LOAD && (part->p_flags & PF_R) &&
            !(part->p_flags & PF_W))
            search->found = has_settings(
                (const char *) (image.base + part->p_vaddr), part->p_filesz);
    }
    return 1;
}

/* Is this a process of an Aspen step, and a user rank? */
static bool is_user(void)
{
    const char *role = getenv("ASPEN_ROLE");

    return aspx_redirect_is_wanted() && (!role || strcmp(role, "user") == 0);
}

/* The rank that the launcher gave, if this is the first; in a job without any
 * everybody is. */
static bool is_first(void)
{
    static const char *const names[] = {"PMI_RANK", "PMIX_RANK",
                                        "SLURM_PROCID"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *rank = getenv(names[i]);

        if (rank)
            return strcmp(rank, "0") == 0;
    }
    return true;
}

static bool layout_says(const char *words)
{
    return strstr(getenv("ASPEN_LAYOUT"), words) != NULL;
}

/* Returns where the program runs plain.
 *   joins  this process is one of a job, as MPI will see it
 *   known  its MPI has begun to talk to the process manager */
static void part_company(const char *what, const char *remedy, bool joins,
                         bool known)
{
    bool ghosts = joins && layout_says(" mode=ghost ");
    bool required = layout_says(" knob=require:yes ");
    char why[600];

    if (!ghosts && !required) {
        if (is_first())
            aspx_log(ASPX_LOG_ERROR, "%s: running without Aspen", what);
        return;
    }
    snprintf(why, sizeof(why),
             "%s: %s, so the job ends; %s, or run with --async-progress=off",
             what,
             ghosts ? "Aspen cannot give it a world without ghosts"
                    : "the request says require",
             remedy);
    if (!known) {
        aspx_manager_note_socket(); /* which greeting asks for */
        aspx_manager_greet();
    }
    aspx_job_end_saying(why, is_first(), false);
}

void aspx_entry_other_mpi(const struct aspx_mpi_library *other)
{
    char name[160], what[300];

    if (!is_user())
        return;
    aspx_mpi_library_name(other, name, sizeof(name));
    snprintf(what, sizeof(what), "the MPI of this program is %s, and %s", name,
             asp_mpi_kind_aspens(other->kind));
    part_company(what, "build it with MPICH", asp_mpi_kind_joins(other->kind),
                 false);
}

void aspx_entry_second_mpi(const struct aspx_mpi_library *first,
                           const struct aspx_mpi_library *second)
{
    char name[160];

    if (!is_user() || !is_first())
        return;
    aspx_mpi_library_name(first, name, sizeof(name));
    aspx_log(ASPX_LOG_WARNING,
             "this program has loaded two MPI libraries, %s and %s (%s): "
             "all of its calls go to the first",
             name, asp_mpi_kind_name(second->kind), second->path);
}

/* Who opens a device, where that is an MPICH. */
static void look_at_caller(const void *code)
{
    struct search search = {.code = code};
    char what[240];

    dl_iterate_phdr(look_for_mpich, &search);
    if (!search.found)
        return;
    if (search.object[0])
        snprintf(what, sizeof(what), "MPI is linked into %.160s",
                 search.object);
    else
        snprintf(what, sizeof(what),
                 "MPI is linked into this program (libmpich.a)");
    part_company(what, "link it with libmpich.so", getenv("PMI_RANK") != NULL,
                 true);
}

void aspx_net_opening(const void *code)
{
    if (!aspx_init_seen() && is_user() && getenv("PMI_RANK"))
        look_at_caller(code);
}
