/* SPDX-License-Identifier: BSD-3-Clause */
/* The free stretches of pages in a table and in lists by size: see extents.h.
 */
#include "config.h"

#include "extents.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>

/* Stretches of about the right size that are looked at before a larger one is
 * cut. */
enum { TRIES = 16 };

/* Each bin begins where the one before ends: what is in a later one than a size
 * is in has more pages. */
static unsigned bin_of(uint32_t pages)
{
    unsigned log = 31 - (unsigned) __builtin_clz(pages);

    return log < 2 ? pages : 4 * (log - 1) + (pages >> (log - 2) & 3);
}

static void insert(struct aspx_extents *extents, uint32_t first, uint32_t pages)
{
    struct aspx_extent_page *table = extents->table;
    uint32_t *head = &extents->bins[bin_of(pages)];

    table[first].begins = pages;
    table[first + pages - 1].ends = pages;
    table[first].prev = ASPX_EXTENT_NONE;
    table[first].next = *head;
    if (*head != ASPX_EXTENT_NONE)
        table[*head].prev = first;
    *head = first;
}

static void withdraw(struct aspx_extents *extents, uint32_t first)
{
    struct aspx_extent_page *table = extents->table, *entry = &table[first];
    uint32_t pages = entry->begins;

    if (entry->prev == ASPX_EXTENT_NONE)
        extents->bins[bin_of(pages)] = entry->next;
    else
        table[entry->prev].next = entry->next;
    if (entry->next != ASPX_EXTENT_NONE)
        table[entry->next].prev = entry->prev;
    entry->begins = 0;
    table[first + pages - 1].ends = 0;
}

int aspx_extents_begin(struct aspx_extents *extents, uint32_t npages,
                       uint64_t origin)
{
    size_t bytes = (size_t) npages * sizeof(*extents->table);
    void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (map == MAP_FAILED)
        return -1;
    (void) madvise(map, bytes, MADV_NOHUGEPAGE);
    *extents = (struct aspx_extents){
        .table = map, .npages = npages, .origin = origin};
    for (unsigned b = 0; b < ASPX_EXTENT_BINS; b++)
        extents->bins[b] = ASPX_EXTENT_NONE;
    insert(extents, 0, npages);
    return 0;
}

void aspx_extents_end(struct aspx_extents *extents)
{
    if (extents->table)
        munmap(extents->table,
               (size_t) extents->npages * sizeof(*extents->table));
    *extents = (struct aspx_extents){0};
}

/* Pages to leave out at the begin of a stretch. */
static uint32_t lead(const struct aspx_extents *extents, uint32_t first,
                     uint32_t align)
{
    return (uint32_t) - (extents->origin + first) & (align - 1);
}

static bool fits(const struct aspx_extents *extents, uint32_t first,
                 uint32_t pages, uint32_t align)
{
    return (uint64_t) lead(extents, first, align) + pages <=
           extents->table[first].begins;
}

static uint32_t find(const struct aspx_extents *extents, uint32_t pages,
                     uint32_t align, uint32_t tries)
{
    for (unsigned b = bin_of(pages); b < ASPX_EXTENT_BINS; b++) {
        uint32_t left = tries;

        for (uint32_t at = extents->bins[b]; at != ASPX_EXTENT_NONE && left > 0;
             at = extents->table[at].next, left--)
            if (fits(extents, at, pages, align))
                return at;
    }
    return ASPX_EXTENT_NONE;
}

uint32_t aspx_extents_take(struct aspx_extents *extents, uint32_t pages,
                           uint32_t align)
{
    uint32_t at, all, before, after;

    if (pages == 0 || pages > extents->npages)
        return ASPX_EXTENT_NONE;
    at = find(extents, pages, align, TRIES);
    if (at == ASPX_EXTENT_NONE)
        at = find(extents, pages, align, UINT32_MAX);
    if (at == ASPX_EXTENT_NONE)
        return at;
    all = extents->table[at].begins;
    before = lead(extents, at, align);
    after = all - before - pages;
    withdraw(extents, at);
    if (before)
        insert(extents, at, before);
    if (after)
        insert(extents, at + before + pages, after);
    return at + before;
}

void aspx_extents_give(struct aspx_extents *extents, uint32_t first,
                       uint32_t pages)
{
    const struct aspx_extent_page *table = extents->table;
    uint32_t after = first + pages, more;

    if (first > 0 && (more = table[first - 1].ends) > 0) {
        withdraw(extents, first - more);
        first -= more;
        pages += more;
    }
    if (after < extents->npages && (more = table[after].begins) > 0) {
        withdraw(extents, after);
        pages += more;
    }
    insert(extents, first, pages);
}
