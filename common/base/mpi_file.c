/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the dynamic symbols by the file's section headers. The file is read and
 * not mapped: somebody may cut it meanwhile. */
#include "config.h"

#include "mpi_file.h"

#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* MPICH's symbols and their names are 300 KB; a file that claims more than this
 * is no library of MPI. */
enum { TABLE_MAX_BYTES = 64 << 20 };

struct symbols {
    Elf64_Sym *first;
    size_t n;
    char *names;
    size_t names_bytes;
};

/* So many bytes at an offset, with a null byte behind them; to be freed. NULL
 * where the file has not as many. */
static void *get(int fd, uint64_t at, uint64_t bytes)
{
    char *data;

    if (bytes == 0 || bytes > TABLE_MAX_BYTES || at > INT64_MAX - bytes)
        return NULL;
    data = malloc(bytes + 1);
    if (data && pread(fd, data, bytes, (off_t) at) == (ssize_t) bytes) {
        data[bytes] = '\0';
        return data;
    }
    free(data);
    return NULL;
}

static Elf64_Shdr *get_sections(int fd, size_t *n_p)
{
    static const unsigned char order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
                                           ? ELFDATA2LSB
                                           : ELFDATA2MSB;
    Elf64_Ehdr *head = get(fd, 0, sizeof(*head));
    Elf64_Shdr *sections = NULL;

    if (head && memcmp(head->e_ident, ELFMAG, SELFMAG) == 0 &&
        head->e_ident[EI_CLASS] == ELFCLASS64 &&
        head->e_ident[EI_DATA] == order &&
        head->e_shentsize == sizeof(*sections)) {
        *n_p = head->e_shnum;
        sections = get(fd, head->e_shoff, *n_p * sizeof(*sections));
    }
    free(head);
    return sections;
}

static bool get_symbols(int fd, struct symbols *symbols)
{
    size_t n = 0, i = 0;
    Elf64_Shdr *sections = get_sections(fd, &n);

    while (sections && i < n && sections[i].sh_type != SHT_DYNSYM)
        i++;
    if (sections && i < n && sections[i].sh_link < n) {
        const Elf64_Shdr *names = &sections[sections[i].sh_link];

        symbols->first = get(fd, sections[i].sh_offset, sections[i].sh_size);
        symbols->n = sections[i].sh_size / sizeof(*symbols->first);
        symbols->names = get(fd, names->sh_offset, names->sh_size);
        symbols->names_bytes = names->sh_size;
    }
    free(sections);
    return symbols->first && symbols->names;
}

static bool defines(const void *library, const char *name)
{
    const struct symbols *symbols = library;

    for (size_t i = 0; i < symbols->n; i++) {
        const Elf64_Sym *symbol = &symbols->first[i];

        if (symbol->st_shndx != SHN_UNDEF &&
            symbol->st_name < symbols->names_bytes &&
            strcmp(symbols->names + symbol->st_name, name) == 0)
            return true;
    }
    return false;
}

enum asp_mpi_kind asp_mpi_of_file(const char *path)
{
    /* Not a FIFO that nobody writes to. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    enum asp_mpi_kind kind = ASP_MPI_NONE;
    struct symbols symbols = {0};
    struct stat st;

    if (fd < 0)
        return ASP_MPI_NONE;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && get_symbols(fd, &symbols))
        kind = asp_mpi_kind(defines, &symbols);
    free(symbols.first);
    free(symbols.names);
    close(fd);
    return kind;
}
