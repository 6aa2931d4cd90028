/* SPDX-License-Identifier: BSD-3-Clause */
/* See arena.h. Nothing here calls MPI. */
#include "config.h"

#include "arena.h"

#include "common/layout/layout.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#define GIB (UINT64_C(1) << 30)
#define MIB (UINT64_C(1) << 20)

/* Between the places where x86-64 and arm64 Linux put programs (low, or at
 * 0x55..) and libraries and stacks (0x7f.., 0xff..); taken only if free. */
#define ADDRESS UINT64_C(0x200000000000)

enum { DOORBELLS_BYTES = ASP_TASKS_MAX * (int) sizeof(struct aspx_doorbell) };

/* All slices together; 47 bits of address space hold more than this. */
#define TOTAL_MAX (UINT64_C(16) << 40)
#define SLICE_MIN (64 * MIB)

static uint64_t round_up(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

static uint64_t page_bytes(void)
{
    return (uint64_t) sysconf(_SC_PAGESIZE);
}

/* A slice as large as the machine's memory can never be the limit. */
static uint64_t wanted_slice(uint32_t nusers)
{
    struct sysinfo info;
    uint64_t slice = GIB, share = TOTAL_MAX / nusers / GIB * GIB;

    if (sysinfo(&info) == 0)
        slice = round_up((uint64_t) info.totalram * info.mem_unit, GIB);
    return slice < share ? slice : share;
}

static void *map_at(uint64_t addr, uint64_t bytes, int fd, uint64_t off)
{
    void *map = MAP_FAILED;

    if (addr)
        map = mmap((void *) (uintptr_t) addr, bytes, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE, fd,
                   (off_t) off);
    if (map == MAP_FAILED)
        map = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_NORESERVE, fd, (off_t) off);
    if (map == MAP_FAILED)
        return NULL;
    /* A core file would otherwise claim terabytes. */
    (void) madvise(map, bytes, MADV_DONTDUMP);
    return map;
}

static void init_closed(struct aspx_arena *arena)
{
    *arena = (struct aspx_arena){.fd = -1};
    pthread_mutex_init(&arena->mutex, NULL);
}

/* The file is sparse, but RLIMIT_FSIZE counts its length. */
static int size_file(int fd, uint64_t head, uint32_t nusers, uint64_t *slice_p)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
        limit.rlim_cur != limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        (void) setrlimit(RLIMIT_FSIZE, &limit);
    }
    for (uint64_t slice = wanted_slice(nusers); slice >= SLICE_MIN; slice /= 2)
        if (ftruncate(fd, (off_t) (head + nusers * slice)) == 0) {
            *slice_p = slice;
            return 0;
        }
    return -1;
}

static void find_head(struct aspx_arena *arena, char *at)
{
    arena->doorbells = (struct aspx_doorbell *) (void *) at;
    arena->status_page = at ? at + DOORBELLS_BYTES : NULL;
}

int aspx_arena_make(struct aspx_arena *arena, uint32_t nusers,
                    uint64_t status_bytes, struct aspx_arena_name *name_p)
{
    uint64_t head = round_up(DOORBELLS_BYTES + status_bytes, page_bytes());
    uint64_t slice = 0;
    struct aspx_shared_file file;
    int saved;

    init_closed(arena);
    arena->fd = memfd_create("aspen-arena", MFD_CLOEXEC);
    if (arena->fd < 0)
        return -1;
    if (size_file(arena->fd, head, nusers, &slice) != 0)
        goto err_close;
    for (;;) {
        arena->bytes = head + nusers * slice;
        arena->base = map_at(ADDRESS, arena->bytes, arena->fd, 0);
        if (arena->base)
            break;
        slice /= 2; /* RLIMIT_AS */
        if (slice < SLICE_MIN ||
            ftruncate(arena->fd, (off_t) (head + nusers * slice)) != 0)
            goto err_close;
    }
    if (aspx_shared_file_describe(arena->fd, &file) != 0)
        goto err_close;
    arena->head_bytes = head;
    find_head(arena, arena->base);
    *name_p = (struct aspx_arena_name){
        .file = file,
        .head_bytes = head,
        .slice_bytes = slice,
        .addr = (uint64_t) (uintptr_t) arena->base,
    };
    return 0;
err_close:
    saved = errno;
    aspx_arena_close(arena);
    errno = saved;
    return -1;
}

/* All of the own slice is free, or as much of it as the limits leave address
 * space to keep account of. */
static int begin_extents(struct aspx_arena *arena)
{
    uint64_t page = page_bytes(), npages;

    do {
        npages = arena->slice_bytes / page;
        if (npages < ASPX_EXTENT_NONE &&
            aspx_extents_begin(&arena->extents, (uint32_t) npages,
                               (uintptr_t) arena->slice / page) == 0)
            return 0;
        arena->slice_bytes = round_up(arena->slice_bytes / 2, page);
    } while (arena->slice_bytes >= SLICE_MIN);
    return -1;
}

/* Map the head and as much of the own slice as the limits allow. */
static int map_slice(struct aspx_arena *arena, int fd)
{
    find_head(arena, map_at(0, arena->head_bytes, fd, 0));
    if (!arena->doorbells)
        return -1;
    while (
        !(arena->slice = map_at(0, arena->slice_bytes, fd, arena->slice_off))) {
        arena->slice_bytes = round_up(arena->slice_bytes / 2, page_bytes());
        if (arena->slice_bytes < SLICE_MIN)
            return -1;
    }
    return 0;
}

int aspx_arena_open(struct aspx_arena *arena,
                    const struct aspx_arena_name *name, int slice)
{
    int fd, saved;

    init_closed(arena);
    fd = aspx_shared_file_open(&name->file);
    if (fd < 0)
        return -1;
    arena->bytes = name->file.bytes;
    arena->head_bytes = name->head_bytes;
    arena->base = map_at(name->addr, name->file.bytes, fd, 0);
    if (!arena->base && slice < 0)
        goto err_close;
    find_head(arena, arena->base);
    if (slice >= 0) {
        arena->slice_bytes = name->slice_bytes;
        arena->slice_off = name->head_bytes +
                           (uint64_t) slice * name->slice_bytes;
        if (arena->base)
            arena->slice = arena->base + arena->slice_off;
        else if (map_slice(arena, fd) != 0)
            goto err_close;
        if (begin_extents(arena) != 0)
            goto err_close;
    }
    close(fd);
    return 0;
err_close:
    saved = errno;
    close(fd);
    aspx_arena_close(arena);
    errno = saved;
    return -1;
}

void aspx_arena_made_known(struct aspx_arena *arena)
{
    if (arena->fd >= 0)
        close(arena->fd);
    arena->fd = -1;
}

void aspx_arena_close(struct aspx_arena *arena)
{
    aspx_arena_made_known(arena);
    if (arena->kept)
        return;
    if (arena->base) {
        munmap(arena->base, arena->bytes);
    } else {
        if (arena->doorbells)
            munmap(arena->doorbells, arena->head_bytes);
        if (arena->slice)
            munmap(arena->slice, arena->slice_bytes);
    }
    aspx_extents_end(&arena->extents);
    arena->base = arena->slice = NULL;
    find_head(arena, NULL);
}

void *aspx_arena_alloc(struct aspx_arena *arena, uint64_t bytes, uint64_t align,
                       uint64_t *off_p)
{
    uint64_t page = page_bytes();
    uint32_t first = ASPX_EXTENT_NONE;

    if (arena->slice && bytes <= arena->slice_bytes &&
        align <= arena->slice_bytes) {
        pthread_mutex_lock(&arena->mutex);
        first = aspx_extents_take(
            &arena->extents, (uint32_t) (round_up(bytes + !bytes, page) / page),
            (uint32_t) (round_up(align, page) / page));
        pthread_mutex_unlock(&arena->mutex);
    }
    if (first == ASPX_EXTENT_NONE) {
        errno = ENOSPC;
        return NULL;
    }
    *off_p = arena->slice_off + first * page;
    return arena->slice + first * page;
}

void aspx_arena_free(struct aspx_arena *arena, uint64_t off, uint64_t bytes)
{
    uint64_t page = page_bytes(), at = off - arena->slice_off;

    bytes = round_up(bytes + !bytes, page);
    (void) madvise(arena->slice + at, bytes, MADV_REMOVE);
    pthread_mutex_lock(&arena->mutex);
    aspx_extents_give(&arena->extents, (uint32_t) (at / page),
                      (uint32_t) (bytes / page));
    pthread_mutex_unlock(&arena->mutex);
}

/* The slices that are mapped here: all of them, or the own one, or none. */
static char *mapped_slices(const struct aspx_arena *arena, uint64_t *off_p,
                           uint64_t *bytes_p)
{
    if (arena->base) {
        *off_p = arena->head_bytes;
        *bytes_p = arena->bytes - arena->head_bytes;
        return arena->base + arena->head_bytes;
    }
    *off_p = arena->slice_off;
    *bytes_p = arena->slice_bytes;
    return arena->slice;
}

int aspx_arena_offset(const struct aspx_arena *arena, const void *addr,
                      uint64_t bytes, uint64_t *off_p)
{
    uint64_t first_off, length;
    uintptr_t begin = (uintptr_t) mapped_slices(arena, &first_off, &length);
    uintptr_t at = (uintptr_t) addr;

    if (!begin || at < begin || at - begin > length ||
        bytes > length - (at - begin))
        return -1;
    *off_p = first_off + (at - begin);
    return 0;
}

void *aspx_arena_address(const struct aspx_arena *arena, uint64_t off,
                         uint64_t bytes)
{
    uint64_t first_off, length;
    char *begin = mapped_slices(arena, &first_off, &length);

    if (!begin || off < first_off || off - first_off > length ||
        bytes > length - (off - first_off))
        return NULL;
    return begin + (off - first_off);
}

/* The ghost's side is block() in casper/server/idle.c. */
void aspx_doorbell_ring(struct aspx_doorbell *doorbell)
{
    int32_t pid;

    if (!doorbell)
        return;
    aspx_event_fence(&doorbell->event);
    if (!aspx_event_has_waiters(&doorbell->event) ||
        !aspx_event_claim(&doorbell->event))
        return;
    pid = atomic_load_explicit(&doorbell->pid, memory_order_relaxed);
    if (syscall(SYS_tgkill, pid, pid, ASPX_DOORBELL_SIGNAL) != 0)
        atomic_store(&doorbell->unreachable, 1);
}
