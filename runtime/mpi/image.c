/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads what the dynamic loader uses of a library (symbols, hash tables,
 * relocations), and writes to the parts that it has made read-only: mprotect(),
 * for the moment of the change. */
#include "config.h"

#include "image.h"

#include <dlfcn.h>
#include <elf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if !defined(__x86_64__) && !defined(__aarch64__)
#error "the relocations of x86-64 and aarch64 only are known here"
#endif

#ifdef __x86_64__
enum {
    RELOC_SLOT = R_X86_64_JUMP_SLOT,
    RELOC_GLOB = R_X86_64_GLOB_DAT,
    RELOC_WORD = R_X86_64_64
};
#else
enum {
    RELOC_SLOT = R_AARCH64_JUMP_SLOT,
    RELOC_GLOB = R_AARCH64_GLOB_DAT,
    RELOC_WORD = R_AARCH64_ABS64
};
#endif

/* The loader adds the base in place, but not where the section is read-only, as
 * in the kernel's own object. */
static void *pointer_of(const struct aspx_image *image, const ElfW(Dyn) * d)
{
    ElfW(Addr) address = d->d_un.d_ptr;

    return (void *) (address < image->base ? address + image->base : address);
}

static void read_dynamic(struct aspx_image *image, const ElfW(Dyn) * d)
{
    size_t plt_bytes = 0, rela_bytes = 0;

    for (; d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_SYMTAB)
            image->symbols = pointer_of(image, d);
        else if (d->d_tag == DT_STRTAB)
            image->strings = pointer_of(image, d);
        else if (d->d_tag == DT_GNU_HASH)
            image->hash = pointer_of(image, d);
        else if (d->d_tag == DT_HASH)
            image->old_hash = pointer_of(image, d);
        else if (d->d_tag == DT_JMPREL)
            image->tables[0] = pointer_of(image, d);
        else if (d->d_tag == DT_RELA)
            image->tables[1] = pointer_of(image, d);
        else if (d->d_tag == DT_PLTRELSZ)
            plt_bytes = d->d_un.d_val;
        else if (d->d_tag == DT_RELASZ)
            rela_bytes = d->d_un.d_val;
    }
    image->counts[0] = plt_bytes / sizeof(ElfW(Rela));
    image->counts[1] = rela_bytes / sizeof(ElfW(Rela));
}

bool aspx_image_read(const struct dl_phdr_info *object,
                     struct aspx_image *image)
{
    *image = (struct aspx_image){.base = object->dlpi_addr,
                                 .parts = object->dlpi_phdr,
                                 .nparts = object->dlpi_phnum};
    for (size_t i = 0; i < image->nparts; i++)
        if (image->parts[i].p_type == PT_DYNAMIC)
            read_dynamic(image, (const ElfW(Dyn) *) (image->base +
                                                     image->parts[i].p_vaddr));
    return image->symbols && image->strings;
}

/* The part of this type that an address is in, or NULL. */
static const ElfW(Phdr) * part_of(const struct aspx_image *image,
                                  ElfW(Word) type, const void *address)
{
    ElfW(Addr) offset = (ElfW(Addr)) address - image->base;

    for (size_t i = 0; i < image->nparts; i++) {
        const ElfW(Phdr) *part = &image->parts[i];

        if (part->p_type == type && offset >= part->p_vaddr &&
            offset - part->p_vaddr < part->p_memsz)
            return part;
    }
    return NULL;
}

bool aspx_image_contains(const struct aspx_image *image, const void *address)
{
    return part_of(image, PT_LOAD, address) != NULL;
}

struct search {
    const void *inside;
    struct aspx_image *image;
    bool found;
};

static int look_at(struct dl_phdr_info *object, size_t size, void *context)
{
    struct search *search = context;
    struct aspx_image image;

    (void) size;
    if (!aspx_image_read(object, &image) ||
        !aspx_image_contains(&image, search->inside))
        return 0;
    *search->image = image;
    search->found = true;
    return 1;
}

bool aspx_image_of_handle(void *handle, struct aspx_image *image)
{
    struct search search = {.image = image};
    struct link_map *map;

    if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0)
        return false;
    search.inside = map->l_ld;
    dl_iterate_phdr(look_at, &search);
    return search.found;
}

static uint32_t hash_of(const char *name)
{
    uint32_t hash = 5381; /* as DT_GNU_HASH wants it */

    for (const unsigned char *c = (const unsigned char *) name; *c; c++)
        hash = hash * 33 + *c;
    return hash;
}

static bool is_definition(const struct aspx_image *image,
                          const ElfW(Sym) * symbol, const char *name)
{
    return symbol->st_shndx != SHN_UNDEF &&
           strcmp(image->strings + symbol->st_name, name) == 0;
}

/* Symbol by symbol: the table says how many there are. */
static ElfW(Sym) * find_in_all(const struct aspx_image *image, const char *name)
{
    uint32_t n = image->old_hash ? image->old_hash[1] : 0;

    for (uint32_t i = 0; i < n; i++)
        if (is_definition(image, &image->symbols[i], name))
            return &image->symbols[i];
    return NULL;
}

/* The table: counts of buckets, of symbols before the first that is in it, of
 * words of a Bloom filter, a shift; the filter, the buckets, a hash for each
 * symbol, of which the lowest bit marks the last of a bucket. */
ElfW(Sym) * aspx_image_symbol(const struct aspx_image *image, const char *name)
{
    const uint32_t *table = image->hash, *buckets, *chain;
    uint32_t hash = hash_of(name), index;

    if (!table)
        return find_in_all(image, name);
    if (table[0] == 0)
        return NULL;
    buckets = table + 4 + table[2] * (sizeof(ElfW(Addr)) / sizeof(*table));
    chain = buckets + table[0];
    index = buckets[hash % table[0]];
    if (index < table[1])
        return NULL;
    for (;; index++) {
        ElfW(Sym) *symbol = &image->symbols[index];
        uint32_t it = chain[index - table[1]];

        if ((it | 1) == (hash | 1) && is_definition(image, symbol, name))
            return symbol;
        if (it & 1)
            return NULL;
    }
}

/* How the loader leaves memory behind. What relocations fill in it makes
 * read-only afterwards, but for a page that has other things on it. */
static int protection(const struct aspx_image *image, const void *address)
{
    const ElfW(Phdr) *part = part_of(image, PT_LOAD, address);
    const ElfW(Phdr) *relro = part_of(image, PT_GNU_RELRO, address);
    ElfW(Addr) page_bytes = (ElfW(Addr)) sysconf(_SC_PAGESIZE), end;
    int prot = PROT_READ;

    if (!part)
        return prot;
    if (part->p_flags & PF_X)
        prot |= PROT_EXEC;
    if (relro) {
        end = (image->base + relro->p_vaddr + relro->p_memsz) &
              ~(page_bytes - 1);
        if ((ElfW(Addr)) address < end)
            return prot;
    }
    return part->p_flags & PF_W ? prot | PROT_WRITE : prot;
}

static bool protect(void *begin, void *end, int prot)
{
    uintptr_t page_bytes = (uintptr_t) sysconf(_SC_PAGESIZE);
    uintptr_t first = (uintptr_t) begin & ~(page_bytes - 1);

    return mprotect((void *) first, (uintptr_t) end - first, prot) == 0;
}

bool aspx_image_open(const struct aspx_image *image, void *begin, void *end)
{
    int prot = protection(image, begin);

    return (prot & PROT_WRITE) || protect(begin, end, prot | PROT_WRITE);
}

void aspx_image_close(const struct aspx_image *image, void *begin, void *end)
{
    int prot = protection(image, begin);

    if (!(prot & PROT_WRITE))
        (void) protect(begin, end, prot);
}

bool aspx_image_store(const struct aspx_image *image, void **slot, void *value)
{
    if (*slot == value)
        return true;
    if (!aspx_image_open(image, slot, slot + 1))
        return false;
    __atomic_store_n(slot, value, __ATOMIC_RELEASE);
    aspx_image_close(image, slot, slot + 1);
    return true;
}

static bool is_reference(const struct aspx_image *image, const ElfW(Rela) * r,
                         struct aspx_reference *reference)
{
    unsigned long type = ELF64_R_TYPE(r->r_info);
    const ElfW(Sym) *symbol = &image->symbols[ELF64_R_SYM(r->r_info)];

    if (type != RELOC_SLOT && type != RELOC_GLOB && type != RELOC_WORD)
        return false;
    reference->name = image->strings + symbol->st_name;
    reference->defined = symbol->st_shndx != SHN_UNDEF;
    reference->definition =
        (void *) (image->base + symbol->st_value +
                  (type == RELOC_WORD ? (ElfW(Addr)) r->r_addend : 0));
    reference->slot = (void **) (image->base + r->r_offset);
    return !reference->defined || ELF64_ST_TYPE(symbol->st_info) == STT_FUNC;
}

void aspx_image_each(const struct aspx_image *image, aspx_reference_f *visit,
                     void *context)
{
    struct aspx_reference reference;

    for (int t = 0; t < 2; t++)
        for (size_t i = 0; image->tables[t] && i < image->counts[t]; i++)
            if (is_reference(image, &image->tables[t][i], &reference))
                visit(image, &reference, context);
}
