/* SPDX-License-Identifier: BSD-3-Clause */
/* Read with pread() and not by libelf, which maps the file: whoever cut it
 * short meanwhile would end this process by SIGBUS. Segments count, as for the
 * dynamic linker; sections are for debuggers, and can say something else. */
#include "config.h"

#include "elf_file.h"

#include "program.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ENTRIES_MAX = 1024, ENTRIES_AT_ONCE = 64 }; /* of a dynamic section */

bool aspt_elf_get(const struct aspt_elf *elf, void *out, size_t bytes,
                  uint64_t at)
{
    return at <= elf->bytes && bytes <= elf->bytes - at &&
           pread(elf->fd, out, bytes, (off_t) at) == (ssize_t) bytes;
}

static bool read_headers(struct aspt_elf *elf)
{
    Elf64_Ehdr file;

    if (!aspt_elf_get(elf, &file, sizeof(file), 0) ||
        memcmp(file.e_ident, ELFMAG, SELFMAG) != 0 ||
        file.e_ident[EI_CLASS] != ELFCLASS64 ||
        file.e_ident[EI_DATA] != (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
                                      ? ELFDATA2LSB
                                      : ELFDATA2MSB) ||
        (file.e_type != ET_EXEC && file.e_type != ET_DYN) ||
        file.e_phentsize != sizeof(*elf->headers) ||
        file.e_phnum > ASPT_ELF_HEADERS ||
        !aspt_elf_get(elf, elf->headers, file.e_phnum * sizeof(*elf->headers),
                      file.e_phoff))
        return false;
    elf->machine = file.e_machine;
    elf->n = file.e_phnum;
    return true;
}

bool aspt_elf_open(const char *path, struct aspt_elf *elf)
{
    struct stat st;

    memset(elf, 0, sizeof(*elf));
    elf->fd = aspt_program_open(path);
    if (elf->fd < 0)
        return false;
    if (fstat(elf->fd, &st) == 0)
        elf->bytes = (uint64_t) st.st_size;
    if (read_headers(elf))
        return true;
    aspt_elf_close(elf);
    return false;
}

void aspt_elf_close(struct aspt_elf *elf)
{
    close(elf->fd);
    elf->fd = -1;
}

static const Elf64_Phdr *find_header(const struct aspt_elf *elf, uint32_t type)
{
    for (size_t i = 0; i < elf->n; i++)
        if (elf->headers[i].p_type == type)
            return &elf->headers[i];
    return NULL;
}

bool aspt_elf_linker(const struct aspt_elf *elf, char path[PATH_MAX])
{
    const Elf64_Phdr *header = find_header(elf, PT_INTERP);
    size_t bytes = header ? header->p_filesz : 0;

    return bytes > 1 && bytes <= PATH_MAX &&
           aspt_elf_get(elf, path, bytes, header->p_offset) && path[0] == '/' &&
           path[bytes - 1] == '\0';
}

/* ---- the dynamic section -------------------------------------------------------- */

/* Where the file has what will be at an address. */
static bool find_offset(const struct aspt_elf *elf, uint64_t address,
                        uint64_t *at)
{
    for (size_t i = 0; i < elf->n; i++) {
        const Elf64_Phdr *part = &elf->headers[i];

        if (part->p_type == PT_LOAD && address >= part->p_vaddr &&
            address - part->p_vaddr < part->p_filesz)
            return !__builtin_add_overflow(address - part->p_vaddr,
                                           part->p_offset, at);
    }
    return false;
}

/* The texts of a dynamic section, and how many bytes of out->text are taken. */
struct texts {
    const struct aspt_elf *elf;
    uint64_t at, bytes; /* of the string table in the file */
    struct aspt_elf_dynamic *out;
    size_t used;
};

/* Returns NULL for one outside the table, without an end, or too long. */
static const char *read_text(struct texts *texts, uint64_t offset)
{
    char *text = texts->out->text + texts->used;
    size_t most = sizeof(texts->out->text) - texts->used;
    uint64_t at;

    if (offset >= texts->bytes ||
        __builtin_add_overflow(texts->at, offset, &at) ||
        at >= texts->elf->bytes)
        return NULL;
    if (most > texts->bytes - offset)
        most = texts->bytes - offset;
    if (most > PATH_MAX)
        most = PATH_MAX;
    if (most > texts->elf->bytes - at)
        most = texts->elf->bytes - at;
    if (!aspt_elf_get(texts->elf, text, most, at) || !memchr(text, '\0', most))
        return NULL;
    texts->used += strlen(text) + 1;
    return text;
}

/* Of one pass over the entries: true: go on. */
typedef bool visit_f(const Elf64_Dyn *entry, void *arg);

static bool visit_entries(const struct aspt_elf *elf, const Elf64_Phdr *header,
                          visit_f *visit, void *arg)
{
    Elf64_Dyn entries[ENTRIES_AT_ONCE];
    uint64_t n = header->p_filesz / sizeof(*entries), at = header->p_offset;

    for (uint64_t done = 0; done < n && done < ENTRIES_MAX;
         done += ENTRIES_AT_ONCE, at += sizeof(entries)) {
        size_t some = n - done < ENTRIES_AT_ONCE ? n - done : ENTRIES_AT_ONCE;

        if (!aspt_elf_get(elf, entries, some * sizeof(*entries), at))
            return false;
        for (size_t i = 0; i < some; i++) {
            if (entries[i].d_tag == DT_NULL)
                return true;
            if (!visit(&entries[i], arg))
                return false;
        }
    }
    return n <= ENTRIES_MAX;
}

static bool find_table(const Elf64_Dyn *entry, void *arg)
{
    struct texts *texts = arg;

    if (entry->d_tag == DT_STRTAB)
        return find_offset(texts->elf, entry->d_un.d_ptr, &texts->at);
    if (entry->d_tag == DT_STRSZ)
        texts->bytes = entry->d_un.d_val;
    return true;
}

static bool take_text(const Elf64_Dyn *entry, void *arg)
{
    struct texts *texts = arg;
    struct aspt_elf_dynamic *out = texts->out;
    const char **text = entry->d_tag == DT_SONAME    ? &out->soname
                        : entry->d_tag == DT_RPATH   ? &out->rpath
                        : entry->d_tag == DT_RUNPATH ? &out->runpath
                                                     : NULL;

    if (entry->d_tag == DT_FLAGS_1)
        out->no_default = entry->d_un.d_val & DF_1_NODEFLIB;
    if (entry->d_tag == DT_NEEDED) {
        if (out->n == ASPT_ELF_LIBRARIES)
            return false;
        text = &out->needed[out->n++];
    }
    return !text || (*text = read_text(texts, entry->d_un.d_val)) != NULL;
}

bool aspt_elf_dynamic(const struct aspt_elf *elf, struct aspt_elf_dynamic *out)
{
    const Elf64_Phdr *header = find_header(elf, PT_DYNAMIC);
    struct texts texts = {.elf = elf, .out = out};

    memset(out, 0, offsetof(struct aspt_elf_dynamic, text));
    return header && visit_entries(elf, header, find_table, &texts) &&
           texts.at && visit_entries(elf, header, take_text, &texts);
}
