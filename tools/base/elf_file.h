/* SPDX-License-Identifier: BSD-3-Clause */
/* What an ELF file says of itself, read as data: nothing of it is mapped,
 * loaded or run. A file can say anything: every offset and length is checked,
 * and what is read of one file is bounded. */
#ifndef ASPEN_TOOLS_BASE_ELF_FILE_H
#define ASPEN_TOOLS_BASE_ELF_FILE_H

#include <elf.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    ASPT_ELF_HEADERS = 64,    /* MPICH's library has 11 */
    ASPT_ELF_LIBRARIES = 256, /* that one file names; large programs: some 40 */
    ASPT_ELF_TEXT = 65536,    /* bytes of all names and paths of one file */
};

/* An open file. */
struct aspt_elf {
    int fd;
    uint64_t bytes;
    uint16_t machine; /* e_machine */
    size_t n;
    Elf64_Phdr headers[ASPT_ELF_HEADERS];
};

/* What its dynamic section tells the dynamic linker. The names are in text. */
struct aspt_elf_dynamic {
    const char *soname, *rpath, *runpath; /* NULL: none */
    bool no_default;                      /* DF_1_NODEFLIB */
    size_t n;
    const char *needed[ASPT_ELF_LIBRARIES];
    char text[ASPT_ELF_TEXT];
};

/* Open a regular file that is an executable or a library of 64 bits in this
 * machine's byte order; pipes and devices are not opened, and not waited for.
 * Returns false with nothing open, or true: aspt_elf_close() by the caller. */
bool aspt_elf_open(const char *path, struct aspt_elf *elf);
void aspt_elf_close(struct aspt_elf *elf);

/* Exactly so many bytes at an offset of the file. */
bool aspt_elf_get(const struct aspt_elf *elf, void *out, size_t bytes,
                  uint64_t at);

/* The dynamic linker that it names, an absolute path. */
bool aspt_elf_linker(const struct aspt_elf *elf, char path[PATH_MAX]);

/* Returns false where there is no dynamic section, or one that is damaged or
 * larger than the limits. */
bool aspt_elf_dynamic(const struct aspt_elf *elf, struct aspt_elf_dynamic *out);

#endif
