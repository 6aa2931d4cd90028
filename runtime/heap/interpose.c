/* SPDX-License-Identifier: BSD-3-Clause */
/* malloc and its kin. The program, its libraries and the C library itself come
 * here; new and delete, Fortran's allocate, strdup() and the like come through
 * them. Until libaspen.so has made its offer, and for everything below the
 * threshold, this is a comparison and a jump to the next allocator in line. An
 * allocator that the program brings stays in use, and gets no offer.
 *
 * Nothing here may fail because of us: what blocks.c does not have, the next
 * allocator is asked for. */
#include "config.h"

#include "blocks.h"

#include <dlfcn.h>
#include <errno.h>
#include <gnu/libc-version.h>
#include <malloc.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* The next allocator's functions. */
struct next {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void (*free)(void *);
    int (*posix_memalign)(void **, size_t, size_t);
    void *(*aligned_alloc)(size_t, size_t);
    void *(*memalign)(size_t, size_t);
    void *(*valloc)(size_t);
    void *(*pvalloc)(size_t);
    size_t (*malloc_usable_size)(void *);
};

#define ROW(name)                                                              \
    {                                                                          \
#name, offsetof(struct next, name)                                     \
    }

static const struct {
    const char *name;
    size_t offset;
} rows[] = {
    ROW(malloc),         ROW(calloc),
    ROW(realloc),        ROW(free),
    ROW(posix_memalign), ROW(aligned_alloc),
    ROW(memalign),       ROW(valloc),
    ROW(pvalloc),        ROW(malloc_usable_size),
};

/* dlsym() may allocate, and asks us. What it gets meanwhile is from here; it
 * is never given back. */
static struct {
    _Alignas(max_align_t) char bytes[16384];
    size_t used;
} boot;

static bool in_boot(const void *addr)
{
    return (uintptr_t) addr - (uintptr_t) boot.bytes < sizeof(boot.bytes);
}

static void *boot_malloc(size_t bytes)
{
    const size_t unit = _Alignof(max_align_t);
    char *addr = boot.bytes + boot.used;

    if (bytes > sizeof(boot.bytes) - boot.used - unit) {
        errno = ENOMEM;
        return NULL;
    }
    boot.used += (bytes + unit - 1) / unit * unit;
    return addr;
}

static void *boot_calloc(size_t count, size_t bytes)
{
    if (bytes && count > sizeof(boot.bytes) / bytes) {
        errno = ENOMEM;
        return NULL;
    }
    return boot_malloc(count * bytes); /* never used before, so zero */
}

static void boot_free(void *addr)
{
    (void) addr;
}

/* Find the next allocator. The constructor comes before any thread, and the
 * dynamic linker's own first call before that. */
static void resolve(void);

#define FIRST(type, name, parameters, arguments)                               \
    static type first_##name parameters                                        \
    {                                                                          \
        resolve();                                                             \
        return name arguments;                                                 \
    }

FIRST(void *, malloc, (size_t bytes), (bytes))
FIRST(void *, calloc, (size_t count, size_t bytes), (count, bytes))
FIRST(void *, realloc, (void *addr, size_t bytes), (addr, bytes))
FIRST(int, posix_memalign, (void **addr_p, size_t align, size_t bytes),
      (addr_p, align, bytes))
FIRST(void *, memalign, (size_t align, size_t bytes), (align, bytes))
FIRST(void *, valloc, (size_t bytes), (bytes))
FIRST(void *, pvalloc, (size_t bytes), (bytes))
FIRST(size_t, malloc_usable_size, (void *addr), (addr))

static void first_free(void *addr)
{
    resolve();
    free(addr);
}

static struct next next = {
    .malloc = first_malloc,
    .calloc = first_calloc,
    .realloc = first_realloc,
    .free = first_free,
    .posix_memalign = first_posix_memalign,
    .aligned_alloc = first_memalign,
    .memalign = first_memalign,
    .valloc = first_valloc,
    .pvalloc = first_pvalloc,
    .malloc_usable_size = first_malloc_usable_size,
};

static void die(const char *text)
{
    ssize_t ignored = write(STDERR_FILENO, text, strlen(text));

    (void) ignored;
    abort();
}

__attribute__((constructor)) static void resolve(void)
{
    static bool resolved;
    struct next found;

    if (resolved)
        return;
    next.malloc = boot_malloc;
    next.calloc = boot_calloc;
    next.free = boot_free;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        void *function = dlsym(RTLD_NEXT, rows[i].name);

        if (!function)
            die("aspen: no other allocator behind libaspenheap.so\n");
        memcpy((char *) &found + rows[i].offset, &function, sizeof(function));
    }
    next = found;
    resolved = true;
}

/* Other allocators may mix what we can interpose with what we cannot: the
 * operator new of jemalloc calls malloc() by name, its operator delete does not
 * call free(). */
bool aspx_next_is_libc(void)
{
    Dl_info malloc_info, libc_info;
    void *function;

    memcpy(&function, &next.malloc, sizeof(function));
    return dladdr(function, &malloc_info) &&
           dladdr((void *) (uintptr_t) &gnu_get_libc_version, &libc_info) &&
           malloc_info.dli_fbase == libc_info.dli_fbase;
}

/* A large block, or NULL. */
static void *take_block(size_t bytes, size_t align, bool zero)
{
    bool zeroed;
    void *addr = aspx_blocks_take(bytes, align, &zeroed);

    if (addr && zero && !zeroed)
        memset(addr, 0, bytes);
    return addr;
}

EXPORT void *malloc(size_t bytes)
{
    void *addr;

    if (aspx_blocks_want(bytes) && (addr = take_block(bytes, 1, false)))
        return addr;
    return next.malloc(bytes);
}

EXPORT void *calloc(size_t count, size_t bytes)
{
    size_t all;
    void *addr;

    if (!__builtin_mul_overflow(count, bytes, &all) && aspx_blocks_want(all) &&
        (addr = take_block(all, 1, true)))
        return addr;
    return next.calloc(count, bytes);
}

EXPORT void free(void *addr)
{
    if (aspx_blocks_have(addr))
        aspx_blocks_give(addr);
    else if (!in_boot(addr))
        next.free(addr);
}

/* To new memory, wherever that is. */
static void *move_block(void *addr, size_t old, size_t bytes)
{
    void *new = malloc(bytes);

    if (!new)
        return NULL;
    memcpy(new, addr, old < bytes ? old : bytes);
    free(addr);
    return new;
}

EXPORT void *realloc(void *addr, size_t bytes)
{
    void *new;

    if (!addr)
        return malloc(bytes);
    if (aspx_blocks_have(addr)) {
        if (bytes == 0) {
            aspx_blocks_give(addr);
            return NULL;
        }
        if (aspx_blocks_resize(addr, bytes))
            return addr;
        new = move_block(addr, aspx_blocks_size(addr), bytes);
        /* Growing may fail, shrinking may not. */
        return new || bytes > aspx_blocks_size(addr) ? new : addr;
    }
    if (in_boot(addr))
        return move_block(
            addr, (size_t) (boot.bytes + sizeof(boot.bytes) - (char *) addr),
            bytes);
    if (aspx_blocks_want(bytes) && (new = take_block(bytes, 1, false))) {
        size_t old = next.malloc_usable_size(addr);

        memcpy(new, addr, old < bytes ? old : bytes);
        next.free(addr);
        return new;
    }
    return next.realloc(addr, bytes);
}

EXPORT void *reallocarray(void *addr, size_t count, size_t bytes)
{
    size_t all;

    if (__builtin_mul_overflow(count, bytes, &all)) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(addr, all);
}

/* Alignments that the next allocator refuses or corrects it shall see. */
static void *take_aligned(size_t align, size_t bytes)
{
    if (!aspx_blocks_want(bytes) || align == 0 || (align & (align - 1)))
        return NULL;
    return take_block(bytes, align, false);
}

EXPORT int posix_memalign(void **addr_p, size_t align, size_t bytes)
{
    void *addr = NULL;

    if (align % sizeof(void *) == 0)
        addr = take_aligned(align, bytes);
    if (!addr)
        return next.posix_memalign(addr_p, align, bytes);
    *addr_p = addr;
    return 0;
}

/* One of the calls that return an aligned block. */
#define ALIGNED(name, parameters, align, arguments)                            \
    EXPORT void *name parameters                                               \
    {                                                                          \
        void *addr = take_aligned(align, bytes);                               \
                                                                               \
        return addr ? addr : next.name arguments;                              \
    }

ALIGNED(aligned_alloc, (size_t align, size_t bytes), align, (align, bytes))
ALIGNED(memalign, (size_t align, size_t bytes), align, (align, bytes))
/* Every block is page aligned. */
ALIGNED(valloc, (size_t bytes), 1, (bytes))
ALIGNED(pvalloc, (size_t bytes), 1, (bytes))

EXPORT size_t malloc_usable_size(void *addr)
{
    if (aspx_blocks_have(addr))
        return aspx_blocks_size(addr);
    if (in_boot(addr))
        return 0;
    return next.malloc_usable_size(addr);
}

/* C23; where the C library has them, they do not come through free(). */
EXPORT void free_sized(void *addr, size_t bytes);
EXPORT void free_aligned_sized(void *addr, size_t align, size_t bytes);

void free_sized(void *addr, size_t bytes)
{
    (void) bytes;
    free(addr);
}

void free_aligned_sized(void *addr, size_t align, size_t bytes)
{
    (void) align;
    (void) bytes;
    free(addr);
}
