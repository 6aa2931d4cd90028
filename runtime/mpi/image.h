/* SPDX-License-Identifier: BSD-3-Clause */
/* A loaded library as the dynamic loader sees it: its symbols, its relocations,
 * and memory of it that the loader made read-only. */
#ifndef ASPEN_RUNTIME_MPI_IMAGE_H
#define ASPEN_RUNTIME_MPI_IMAGE_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct aspx_image {
    ElfW(Addr) base;
    const ElfW(Phdr) * parts;
    size_t nparts;
    ElfW(Sym) * symbols; /* lies in read-only memory */
    const char *strings;
    const uint32_t *hash;     /* DT_GNU_HASH, or NULL */
    const uint32_t *old_hash; /* DT_HASH, or NULL: the linkers' older table */
    const ElfW(Rela) * tables[2];
    size_t counts[2];
};

/* Read an object that dl_iterate_phdr() shows; what image points to belongs to
 * the object. False when it has no dynamic section. */
bool aspx_image_read(const struct dl_phdr_info *object,
                     struct aspx_image *image);

/* The library of a dlopen() handle. False when it cannot be read. Takes the
 * loader's lock of its list of objects, and no other. */
bool aspx_image_of_handle(void *handle, struct aspx_image *image);

/* A symbol that the library defines, or NULL. */
ElfW(Sym) * aspx_image_symbol(const struct aspx_image *image, const char *name);

/* Is this address in the library? */
bool aspx_image_contains(const struct aspx_image *image, const void *address);

/* Make memory of the library writable, and as it is for the loader again. The
 * memory lies in one segment. False with errno when the kernel refuses. */
bool aspx_image_open(const struct aspx_image *image, void *begin, void *end);
void aspx_image_close(const struct aspx_image *image, void *begin, void *end);

/* A word that a relocation of the library fills in, and the function that it
 * names. */
struct aspx_reference {
    const char *name;
    bool defined; /* by the library itself */
    void *definition;
    void **slot;
};

typedef void aspx_reference_f(const struct aspx_image *image,
                              const struct aspx_reference *reference,
                              void *context);

/* Visit all of them. */
void aspx_image_each(const struct aspx_image *image, aspx_reference_f *visit,
                     void *context);

/* Have such a word hold another address. Returns whether it does. */
bool aspx_image_store(const struct aspx_image *image, void **slot, void *value);

#endif
