/* SPDX-License-Identifier: BSD-3-Clause */
/* Slabs by size class, each with a bitmap of the blocks that are taken. */
#include "config.h"

#include "slabs.h"

#include <limits.h>
#include <stdlib.h>
#include <uthash.h>
#include <utlist.h>

enum {
    SLAB_BYTES = 64 << 10,
    UNIT = 64, /* the smallest block */
    /* Multiples of the unit up to four, then four sizes to a doubling: a fifth
     * of a block is lost at most. */
    CLASSES = 28,
    BITS = 64, /* of a word */
};

struct slab {
    void *base;
    uint64_t off;
    unsigned class;
    unsigned used, total;     /* blocks */
    struct slab *prev, *next; /* in with_room, while used < total */
    UT_hash_handle hh;        /* by base */
    uint64_t taken[SLAB_BYTES / UNIT / BITS];
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* all below */
static struct slab *slabs;
static struct slab *with_room[CLASSES];

static uint64_t bytes_of(unsigned class)
{
    if (class < 4)
        return (uint64_t) UNIT * (class + 1);
    return (uint64_t) UNIT * (class % 4 + 5) << (class / 4 - 1);
}

/* The smallest class of which every block is aligned. */
static unsigned class_of(uint64_t bytes, uint64_t align)
{
    unsigned class = 0;

    while (bytes_of(class) < bytes || bytes_of(class) % align != 0)
        class ++;
    return class;
}

static struct slab *make_slab(struct aspx_arena *arena, unsigned class)
{
    struct slab *slab = calloc(1, sizeof(*slab));

    if (!slab)
        return NULL;
    slab->class = class;
    slab->total = (unsigned) (SLAB_BYTES / bytes_of(class));
    slab->base = aspx_arena_alloc(arena, SLAB_BYTES, SLAB_BYTES, &slab->off);
    if (!slab->base) {
        free(slab);
        return NULL;
    }
    HASH_ADD_PTR(slabs, base, slab);
    DL_PREPEND(with_room[class], slab);
    return slab;
}

/* There is room. */
static void *take_from(struct slab *slab)
{
    unsigned word = 0, bit;

    while (slab->taken[word] == UINT64_MAX)
        word++;
    bit = (unsigned) __builtin_ctzll(~slab->taken[word]);
    slab->taken[word] |= UINT64_C(1) << bit;
    if (++slab->used == slab->total)
        DL_DELETE(with_room[slab->class], slab);
    return (char *) slab->base + (word * BITS + bit) * bytes_of(slab->class);
}

void *aspx_slabs_take(struct aspx_arena *arena, uint64_t bytes, uint64_t align)
{
    unsigned class = class_of(bytes, align);
    struct slab *slab;
    void *addr = NULL;

    pthread_mutex_lock(&mutex);
    slab = with_room[class];
    if (!slab)
        slab = make_slab(arena, class);
    if (slab)
        addr = take_from(slab);
    pthread_mutex_unlock(&mutex);
    return addr;
}

/* Returns false when no block that is taken begins there. */
static bool untake_block(struct slab *slab, const void *addr)
{
    uint64_t at = (uint64_t) ((const char *) addr - (char *) slab->base);
    uint64_t size = bytes_of(slab->class), i = at / size;
    uint64_t bit = UINT64_C(1) << i % BITS;

    if (at % size != 0 || !(slab->taken[i / BITS] & bit))
        return false;
    slab->taken[i / BITS] &= ~bit;
    if (slab->used-- == slab->total)
        DL_PREPEND(with_room[slab->class], slab);
    return true;
}

/* Is nothing of it used, and does another one of its class have room? One is
 * kept: a program that takes and gives a block in turn would make and unmake it
 * each time. */
static bool is_spare(const struct slab *slab)
{
    return slab->used == 0 && (with_room[slab->class] != slab || slab->next);
}

bool aspx_slabs_give(struct aspx_arena *arena, void *addr)
{
    void *base = (char *) addr - (uintptr_t) addr % SLAB_BYTES;
    struct slab *slab, *spare = NULL;
    bool known;

    pthread_mutex_lock(&mutex);
    HASH_FIND_PTR(slabs, &base, slab);
    known = slab && untake_block(slab, addr);
    if (known && is_spare(slab)) {
        HASH_DEL(slabs, slab);
        DL_DELETE(with_room[slab->class], slab);
        spare = slab;
    }
    pthread_mutex_unlock(&mutex);
    if (spare) {
        aspx_arena_free(arena, spare->off, SLAB_BYTES);
        free(spare);
    }
    return known;
}
