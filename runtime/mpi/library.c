/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "library.h"

#include "image.h"
#include "real.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* Of what an MPI says of itself: a release, and not how it was configured. */
enum { SAYS_MAX = 60 };

struct search {
    size_t left; /* libraries to pass over */
    struct aspx_mpi_library *library;
    bool found;
};

static bool defines(const void *image, const char *name)
{
    return aspx_image_symbol(image, name) != NULL;
}

static int look_at(struct dl_phdr_info *object, size_t size, void *context)
{
    struct search *search = context;
    struct aspx_image image;
    enum asp_mpi_kind kind;

    (void) size;
    /* The program itself has no name. */
    if (!object->dlpi_name[0] || !aspx_image_read(object, &image) ||
        aspx_image_contains(&image, &aspx_real))
        return 0;
    kind = asp_mpi_kind(defines, &image);
    if (kind == ASP_MPI_NONE || search->left-- > 0)
        return 0;
    search->library->kind = kind;
    snprintf(search->library->path, sizeof(search->library->path), "%s",
             object->dlpi_name);
    search->found = true;
    return 1;
}

bool aspx_mpi_library_find(size_t which, struct aspx_mpi_library *library)
{
    struct search search = {.left = which, .library = library};

    dl_iterate_phdr(look_at, &search);
    return search.found;
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
    const char *slash = strrchr(library->path, '/');
    void *handle = aspx_mpi_library_open(library);
    char says[SAYS_MAX] = "";

    if (handle)
        ask(handle, says);
    snprintf(name, bytes, "%s (%.80s)",
             says[0] ? says : asp_mpi_kind_name(library->kind),
             slash ? slash + 1 : library->path);
    if (handle)
        dlclose(handle);
}
