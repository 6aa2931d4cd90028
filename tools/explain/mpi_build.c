/* SPDX-License-Identifier: BSD-3-Clause */
/* Called by advice.c, in srun as the user. Nothing is run: neither the program,
 * nor what it names, nor a dynamic linker, which would do the latter. */
#include "config.h"

#include "mpi_build.h"

#include "tools/base/elf_file.h"
#include "tools/base/library.h"

#include <stdbool.h>
#include <stdlib.h>

enum { NOTES_MAX = 65536 };

static bool build_of_file(const char *path, char out[ASP_BUILD_MAX])
{
    struct aspt_elf elf;
    bool found = false;

    if (!aspt_elf_open(path, &elf))
        return false;
    for (size_t i = 0; i < elf.n && !found; i++) {
        size_t bytes = elf.headers[i].p_filesz;
        void *notes = NULL;

        if (elf.headers[i].p_type != PT_NOTE || bytes > NOTES_MAX)
            continue;
        notes = malloc(bytes + 1);
        found = notes &&
                aspt_elf_get(&elf, notes, bytes, elf.headers[i].p_offset) &&
                asp_build_of_notes(notes, bytes, out);
        free(notes);
    }
    aspt_elf_close(&elf);
    return found;
}

int aspt_mpi_build(const char *program, char out[ASP_BUILD_MAX])
{
    char library[PATH_MAX];

    return aspt_library_find_mpi(program, library) != ASP_MPI_NONE &&
                   build_of_file(library, out)
               ? 0
               : -1;
}
