/* SPDX-License-Identifier: BSD-3-Clause */
/* A table with one entry per page holds the size of the block that begins
 * there. An entry belongs to the owner of its block, so it needs no lock; the
 * table is sparse, as the memory that it describes is.
 *
 * Fresh pages cost a fault each and freed ones a system call, so blocks up to
 * KEEP_BLOCK are kept for a while, KEEP_ALL together. These are the highest
 * that the C library's own threshold for returning memory adapts itself to
 * (mallopt(3), M_MMAP_THRESHOLD: 32 MiB, M_TRIM_THRESHOLD: twice that).
 *
 * After fork() both processes share these pages and would hand out the same
 * ones. Only the process that got the offer takes and gives; in a child blocks
 * are left alone. A child is told by a page that the kernel wipes for it, not
 * by pthread_atfork(): no lock has to be held across a fork then, and handlers
 * of others may allocate. */
#include "config.h"

#include "blocks.h"
#include "heap.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MIB        ((size_t) 1 << 20)
#define KEEP_BLOCK (32 * MIB)
#define KEEP_ALL   (64 * MIB)

enum { KEEP_SLOTS = 16 };

_Atomic size_t aspx_blocks_threshold = SIZE_MAX;
_Atomic uintptr_t aspx_blocks_base;
_Atomic size_t aspx_blocks_bytes;

static struct aspx_heap heap;
static const volatile bool *owner; /* false in a child */
static size_t page_bytes;
static _Atomic uint32_t *block_pages; /* by page; 0: no block begins here */

struct kept {
    char *addr;
    uint32_t pages;
};

/* Oldest first. */
static struct {
    pthread_mutex_t mutex;
    int used;
    size_t bytes;
    struct kept slot[KEEP_SLOTS];
} keep = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void *map_private(size_t bytes, int advice)
{
    void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (map == MAP_FAILED)
        return NULL;
    if (madvise(map, bytes, advice) == 0 || advice == MADV_NOHUGEPAGE)
        return map;
    munmap(map, bytes);
    return NULL;
}

__attribute__((visibility("default"))) int aspx_heap_offer(
    const struct aspx_heap *offered)
{
    static atomic_flag taken = ATOMIC_FLAG_INIT;
    size_t page = (size_t) sysconf(_SC_PAGESIZE);
    size_t table_bytes = offered->bytes / page * sizeof(*block_pages);
    bool *flag;

    if (offered->version != ASPX_HEAP_VERSION) {
        errno = EPROTO;
        return -1;
    }
    if (!aspx_next_is_libc()) {
        errno = ENOTSUP;
        return -1;
    }
    if (atomic_flag_test_and_set(&taken)) {
        errno = EBUSY;
        return -1;
    }
    flag = map_private(page, MADV_WIPEONFORK);
    block_pages = map_private(table_bytes, MADV_NOHUGEPAGE);
    if (!flag || !block_pages)
        return -1; /* no second try: the threshold stays out of reach */
    *flag = true;
    owner = flag;
    page_bytes = page;
    heap = *offered;
    atomic_store(&aspx_blocks_base, (uintptr_t) heap.base);
    atomic_store(&aspx_blocks_bytes, heap.bytes / page * page);
    atomic_store_explicit(&aspx_blocks_threshold, heap.threshold_bytes,
                          memory_order_release);
    return 0;
}

__attribute__((visibility("default"))) void aspx_heap_withdraw(void)
{
    atomic_store(&aspx_blocks_threshold, SIZE_MAX);
}

static _Atomic uint32_t *entry(const void *addr)
{
    return &block_pages[(size_t) ((const char *) addr - heap.base) /
                        page_bytes];
}

/* As the C library does: memory is no longer what the program believes. */
static void die_of_bad_free(void)
{
    static const char text[] =
        "aspen: free() or realloc() of an address that malloc() did not give\n";
    ssize_t ignored = write(STDERR_FILENO, text, sizeof(text) - 1);

    (void) ignored;
    abort();
}

static uint32_t pages_of(const void *addr)
{
    uint32_t pages = 0;

    if ((size_t) ((const char *) addr - heap.base) % page_bytes == 0)
        pages = atomic_load_explicit(entry(addr), memory_order_relaxed);
    if (pages == 0)
        die_of_bad_free();
    return pages;
}

/* The smallest kept block that is large enough, and by at most an eighth. */
static void *take_kept(uint32_t pages)
{
    void *addr = NULL;
    int best = -1;

    pthread_mutex_lock(&keep.mutex);
    for (int i = 0; i < keep.used; i++)
        if (keep.slot[i].pages >= pages &&
            keep.slot[i].pages - pages <= pages / 8 &&
            (best < 0 || keep.slot[i].pages < keep.slot[best].pages))
            best = i;
    if (best >= 0) {
        addr = keep.slot[best].addr;
        pages = keep.slot[best].pages;
        keep.bytes -= pages * page_bytes;
        keep.used--;
        memmove(&keep.slot[best], &keep.slot[best + 1],
                (size_t) (keep.used - best) * sizeof(keep.slot[0]));
    }
    pthread_mutex_unlock(&keep.mutex);
    if (addr)
        atomic_store_explicit(entry(addr), pages, memory_order_relaxed);
    return addr;
}

/* Whole pages beyond the alignment that take() promises go straight back. */
static void *take_fresh(uint32_t pages, size_t align)
{
    size_t extra = align > page_bytes ? align - page_bytes : 0;
    size_t bytes = pages * page_bytes, before;
    char *addr = heap.take(bytes + extra);

    if (!addr)
        return NULL;
    before = -(uintptr_t) addr & (align - 1);
    if (before)
        heap.give(addr, before);
    addr += before;
    if (extra - before)
        heap.give(addr + bytes, extra - before);
    atomic_store_explicit(entry(addr), pages, memory_order_relaxed);
    return addr;
}

void *aspx_blocks_take(size_t bytes, size_t align, bool *zeroed_p)
{
    int saved = errno;
    size_t pages = bytes / page_bytes + (bytes % page_bytes != 0);
    void *addr = NULL;

    *zeroed_p = false;
    if (pages > UINT32_MAX || bytes > heap.bytes || align > heap.bytes ||
        !*owner)
        return NULL;
    if (align <= page_bytes)
        addr = take_kept((uint32_t) pages);
    if (!addr) {
        addr = take_fresh((uint32_t) pages, align);
        *zeroed_p = true;
    }
    errno = saved;
    return addr;
}

/* Keep a block, and find those that have to go for it. */
static int keep_block(char *addr, uint32_t pages, struct kept gone[KEEP_SLOTS])
{
    size_t bytes = pages * page_bytes;
    int ngone = 0;

    pthread_mutex_lock(&keep.mutex);
    while (keep.used - ngone == KEEP_SLOTS || keep.bytes + bytes > KEEP_ALL) {
        gone[ngone] = keep.slot[ngone];
        keep.bytes -= gone[ngone++].pages * page_bytes;
    }
    keep.used -= ngone;
    memmove(keep.slot, keep.slot + ngone,
            (size_t) keep.used * sizeof(keep.slot[0]));
    keep.slot[keep.used++] = (struct kept){addr, pages};
    keep.bytes += bytes;
    pthread_mutex_unlock(&keep.mutex);
    return ngone;
}

void aspx_blocks_give(void *addr)
{
    int saved = errno, ngone = 0;
    uint32_t pages = pages_of(addr);
    struct kept gone[KEEP_SLOTS];

    atomic_store_explicit(entry(addr), 0, memory_order_relaxed);
    if (!*owner)
        return;
    if (pages * page_bytes <= KEEP_BLOCK)
        ngone = keep_block(addr, pages, gone);
    else
        heap.give(addr, pages * page_bytes);
    for (int i = 0; i < ngone; i++)
        heap.give(gone[i].addr, gone[i].pages * page_bytes);
    errno = saved;
}

size_t aspx_blocks_size(const void *addr)
{
    return pages_of(addr) * page_bytes;
}

bool aspx_blocks_resize(void *addr, size_t bytes)
{
    uint32_t old = pages_of(addr);
    size_t pages = bytes / page_bytes + (bytes % page_bytes != 0);
    int saved = errno;

    if (pages > old || !aspx_blocks_want(bytes) || !*owner)
        return false;
    if (pages < old - old / 8) {
        atomic_store_explicit(entry(addr), (uint32_t) pages,
                              memory_order_relaxed);
        heap.give((char *) addr + pages * page_bytes,
                  (old - pages) * page_bytes);
        errno = saved;
    }
    return true;
}
