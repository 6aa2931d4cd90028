/* SPDX-License-Identifier: BSD-3-Clause */
/* Walks libmpich's relocations and rewrites those that name an MPI function.
 * ROMIO and others call MPI through the PLT (91 PMPI_ and 99 MPI_ functions in
 * 4.0.2); these calls mean the library's view of the world, not the program's.
 * Rewriting them once costs nothing per call, and a user callback that tail
 * calls MPI is still seen as the user's, which a look at return addresses
 * would get wrong. */
#include "config.h"

#include "selfbind.h"

#include "real.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if !defined(__x86_64__) && !defined(__aarch64__)
#error "selfbind knows the relocations of x86-64 and aarch64 only"
#endif

#ifdef __x86_64__
enum { RELOC_SLOT = R_X86_64_JUMP_SLOT, RELOC_GLOB = R_X86_64_GLOB_DAT,
       RELOC_WORD = R_X86_64_64 };
#else
enum { RELOC_SLOT = R_AARCH64_JUMP_SLOT, RELOC_GLOB = R_AARCH64_GLOB_DAT,
       RELOC_WORD = R_AARCH64_ABS64 };
#endif

struct image {
    ElfW(Addr) base;
    const ElfW(Sym) *symbols;
    const char *strings;
    const ElfW(Rela) *tables[2];
    size_t counts[2];
};

static void read_dynamic(const struct link_map *map, struct image *image)
{
    size_t plt_bytes = 0, rela_bytes = 0;

    memset(image, 0, sizeof(*image));
    image->base = map->l_addr;
    for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++) {
        const void *pointer = (const void *) (uintptr_t) d->d_un.d_ptr;

        if (d->d_tag == DT_SYMTAB)
            image->symbols = pointer;
        else if (d->d_tag == DT_STRTAB)
            image->strings = pointer;
        else if (d->d_tag == DT_JMPREL)
            image->tables[0] = pointer;
        else if (d->d_tag == DT_RELA)
            image->tables[1] = pointer;
        else if (d->d_tag == DT_PLTRELSZ)
            plt_bytes = d->d_un.d_val;
        else if (d->d_tag == DT_RELASZ)
            rela_bytes = d->d_un.d_val;
    }
    image->counts[0] = plt_bytes / sizeof(ElfW(Rela));
    image->counts[1] = rela_bytes / sizeof(ElfW(Rela));
}

/* Store a pointer where the loader may have made memory read-only. */
static void store(void **slot, void *value)
{
    uintptr_t page_bytes = (uintptr_t) sysconf(_SC_PAGESIZE);
    uintptr_t page = (uintptr_t) slot & ~(page_bytes - 1);

    if (*slot == value)
        return;
    if (mprotect((void *) page, page_bytes, PROT_READ | PROT_WRITE) == 0)
        __atomic_store_n(slot, value, __ATOMIC_RELEASE);
}

static int is_mpi(const char *name)
{
    return strncmp(name, "MPI", 3) == 0 || strncmp(name, "PMPI", 4) == 0;
}

/* A function that libmpich calls by name, and where the call goes now. */
struct place {
    const char *name;
    bool own; /* libmpich defines it */
    void *definition;
    void **slot;
};

static bool is_place(const struct image *image, const ElfW(Rela) *r,
                     struct place *place)
{
    unsigned long type = ELF64_R_TYPE(r->r_info);
    const ElfW(Sym) *symbol = &image->symbols[ELF64_R_SYM(r->r_info)];

    if (type != RELOC_SLOT && type != RELOC_GLOB && type != RELOC_WORD)
        return false;
    place->name = image->strings + symbol->st_name;
    place->own = symbol->st_shndx != SHN_UNDEF;
    place->definition =
        (void *) (image->base + symbol->st_value +
                  (type == RELOC_WORD ? (ElfW(Addr)) r->r_addend : 0));
    place->slot = (void **) (image->base + r->r_offset);
    return !place->own || ELF64_ST_TYPE(symbol->st_info) == STT_FUNC;
}

/* Go through all places. */
static void walk(void (*visit)(const struct place *place, void *context),
                 void *context)
{
    struct link_map *map;
    struct image image;
    struct place place;

    if (dlinfo(aspx_real_library(), RTLD_DI_LINKMAP, &map) != 0)
        return;
    read_dynamic(map, &image);
    for (int t = 0; t < 2; t++)
        for (size_t i = 0; image.tables[t] && i < image.counts[t]; i++)
            if (is_place(&image, &image.tables[t][i], &place))
                visit(&place, context);
}

static void bind_own(const struct place *place, void *unused)
{
    (void) unused;
    if (place->own && is_mpi(place->name))
        store(place->slot, place->definition);
}

void aspx_selfbind(void)
{
    static bool done;

    if (!done)
        walk(bind_own, NULL);
    done = true;
}

struct lead {
    const char *name;
    void *to;
    bool found;
};

static void lead(const struct place *place, void *context)
{
    struct lead *wanted = context;

    if (place->own || strcmp(place->name, wanted->name) != 0)
        return;
    store(place->slot, wanted->to);
    wanted->found = *place->slot == wanted->to;
}

bool aspx_selfbind_lead(const char *name, void *to)
{
    struct lead wanted = {.name = name, .to = to};

    walk(lead, &wanted);
    return wanted.found;
}

void *aspx_selfbind_find(const char *name)
{
    void *found = dlsym(RTLD_DEFAULT, name);

    return found ? found : dlsym(aspx_real_library(), name);
}
