/* SPDX-License-Identifier: BSD-3-Clause */
/* Walks the objects that the dynamic linker has loaded and reads their symbol
 * tables. Of several MPI libraries that counts which the program's calls would
 * go to: a wrapper with an interface of its own may have loaded MPICH behind
 * it. Where they are loaded for others only (Python) the linker does not tell,
 * and the one that Aspen can work with best is taken. */
#include "config.h"

#include "library.h"

#include "image.h"
#include "real.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* Of what an MPI says of itself: a release, and not how it was configured. */
enum { SAYS_MAX = 60 };

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static bool defines(const void *image, const char *name)
{
    return aspx_image_symbol(image, name) != NULL;
}

/* Aspen defines the names of MPI, too: this one, and another installation's. */
static bool is_aspen(const char *path)
{
    return strcmp(last_part(path), "libaspen.so") == 0;
}

struct search {
    struct aspx_mpi_library *best;
    const char *without; /* path of one that does not count, or NULL */
    const char *next;    /* path of what has MPI's names behind us, or NULL */
};

static int look_at(struct dl_phdr_info *object, size_t size, void *context)
{
    const struct search *search = context;
    struct aspx_mpi_library *best = search->best;
    struct aspx_image image;
    enum asp_mpi_kind kind;
    bool next;

    (void) size;
    /* The program itself has no name. */
    if (!object->dlpi_name[0] || is_aspen(object->dlpi_name) ||
        (search->without && strcmp(search->without, object->dlpi_name) == 0) ||
        !aspx_image_read(object, &image))
        return 0;
    kind = asp_mpi_kind(defines, &image);
    next = search->next && strcmp(search->next, object->dlpi_name) == 0;
    if ((next && kind != ASP_MPI_NONE) ||
        asp_mpi_kind_is_better(kind, best->kind)) {
        best->kind = kind;
        snprintf(best->path, sizeof(best->path), "%s", object->dlpi_name);
    }
    return next && kind != ASP_MPI_NONE;
}

/* By a function that no tool stands for (common/base/mpi_kind.c). */
static const char *find_next(void)
{
    void *next = dlsym(RTLD_NEXT, "PMPI_Type_commit");
    Dl_info info;

    return next && dladdr(next, &info) ? info.dli_fname : NULL;
}

static bool find(struct aspx_mpi_library *library, const char *without)
{
    struct search search = {library, without, without ? NULL : find_next()};

    library->kind = ASP_MPI_NONE;
    dl_iterate_phdr(look_at, &search);
    return library->kind != ASP_MPI_NONE;
}

bool aspx_mpi_library_find(struct aspx_mpi_library *library)
{
    return find(library, NULL);
}

bool aspx_mpi_library_find_second(const struct aspx_mpi_library *first,
                                  struct aspx_mpi_library *second)
{
    return find(second, first->path) && second->kind != ASP_MPI_PLAIN;
}

void *aspx_mpi_library_open(const struct aspx_mpi_library *library)
{
    return dlopen(library->path, RTLD_LAZY | RTLD_NOLOAD);
}

/* The same function with the same arguments in every MPI. */
static void ask(void *handle, char says[SAYS_MAX])
{
    static const char label[] = "MPICH Version:";
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "", *at = text;
    int (*version)(char *text, int *len);
    size_t used = 0;
    int len;

    *(void **) &version = dlsym(handle, "PMPI_Get_library_version");
    if (!version)
        *(void **) &version = dlsym(handle, "MPI_Get_library_version");
    if (!version || version(text, &len) != MPI_SUCCESS)
        text[0] = '\0';
    if (strncmp(text, label, sizeof(label) - 1) == 0) {
        says += snprintf(says, SAYS_MAX, "MPICH ");
        at += sizeof(label) - 1;
        at += strspn(at, " \t");
    }
    for (; *at && !strchr(",\n\r", *at) && used < SAYS_MAX / 2; at++)
        says[used++] = *at < ' ' || *at > '~' ? ' ' : *at;
    says[used] = '\0';
}

void aspx_mpi_library_name(const struct aspx_mpi_library *library, char *name,
                           size_t bytes)
{
    void *handle = aspx_mpi_library_open(library);
    char says[SAYS_MAX] = "";

    if (handle)
        ask(handle, says);
    snprintf(name, bytes, "%s (%.80s)",
             says[0] ? says : asp_mpi_kind_name(library->kind),
             last_part(library->path));
    if (handle)
        dlclose(handle);
}
