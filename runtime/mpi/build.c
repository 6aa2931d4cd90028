/* SPDX-License-Identifier: BSD-3-Clause */
/* Which MPI runs, for the record. The build id is read from the segments that
 * are loaded, as the library's file may have changed since. */
#include "config.h"

#include "build.h"

#include "real.h"

#include "common/base/build_id.h"

#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { NAME_MAX_BYTES = 80 };

/* Releases that Aspen knows: those that mpi_calls.tab has columns for, and
 * whatever it was built with (4.0.2: 40002300). */
enum {
    BUILT_WITH = MPICH_NUMVERSION / 100000,
    OLDEST = 400,
    NEWEST = BUILT_WITH > 402 ? BUILT_WITH : 402,
};

struct search {
    uintptr_t inside; /* an address of the library */
    char *build;
    bool found;
};

static bool contains(const struct dl_phdr_info *object, uintptr_t address)
{
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        uintptr_t begin = object->dlpi_addr + part->p_vaddr;

        if (part->p_type == PT_LOAD && address >= begin &&
            address - begin < part->p_memsz)
            return true;
    }
    return false;
}

static int look_at(struct dl_phdr_info *object, size_t size, void *data)
{
    struct search *search = data;

    (void) size;
    if (!contains(object, search->inside))
        return 0;
    for (int i = 0; i < object->dlpi_phnum && !search->found; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];

        if (part->p_type == PT_NOTE)
            search->found = asp_build_of_notes(
                (const void *) (object->dlpi_addr + part->p_vaddr),
                part->p_memsz, search->build);
    }
    return 1;
}

static void read_version(char text[MPI_MAX_LIBRARY_VERSION_STRING])
{
    int len = 0;

    text[0] = '\0';
    if (aspx_real.MPI_Get_library_version(text, &len) != MPI_SUCCESS)
        text[0] = '\0';
}

bool aspx_build_of(const void *inside, char build[ASP_BUILD_MAX])
{
    struct search search = {.inside = (uintptr_t) inside, .build = build};

    dl_iterate_phdr(look_at, &search);
    return search.found;
}

const char *aspx_mpi_build(void)
{
    static char build[ASP_BUILD_MAX];
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    void *inside;

    if (build[0])
        return build;
    memcpy(&inside, &aspx_real.MPI_Init, sizeof(inside));
    if (!aspx_build_of(inside, build)) {
        read_version(text);
        asp_build_of_version(text, build);
    }
    return build;
}

/* "MPICH Version: 4.0.2" -> 400; 0 when it is something else. */
static int release_of(const char *text)
{
    int major, minor;

    return sscanf(text, "MPICH Version: %d.%d", &major, &minor) == 2
               ? 100 * major + minor
               : 0;
}

int aspx_mpi_release(void)
{
    static _Atomic int release = -1; /* unknown as yet */

    if (release < 0)
        release = release_of(aspx_mpi_name());
    return release;
}

static bool is_known(int release)
{
    return release >= OLDEST && release <= NEWEST;
}

/* "MPICH Version: 4.0.2": the release alone. */
static const char *short_name(const char *name)
{
    static const char before[] = "MPICH Version:";
    size_t at = strncmp(name, before, strlen(before)) ? 0 : strlen(before);

    return name + at + strspn(name + at, " ");
}

const char *aspx_mpi_unknown(void)
{
    static char why[2 * NAME_MAX_BYTES];
    const char *name;

    if (is_known(aspx_mpi_release()))
        return NULL;
    name = aspx_mpi_name();
    snprintf(why, sizeof(why),
             "the MPI of this program is %s%s, and this Aspen knows MPICH "
             "%d.%d to %d.%d",
             aspx_mpi_release() ? "MPICH " : "", short_name(name), OLDEST / 100,
             OLDEST % 100, NEWEST / 100, NEWEST % 100);
    return why;
}

const char *aspx_mpi_name(void)
{
    static char name[NAME_MAX_BYTES];
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    size_t used = 0;

    read_version(text);
    for (const char *c = text; *c && *c != '\n' && used < sizeof(name) - 1; c++)
        name[used++] = *c < ' ' || *c > '~' ? ' ' : *c;
    name[used] = '\0';
    return name;
}
