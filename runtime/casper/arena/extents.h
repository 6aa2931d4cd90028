/* SPDX-License-Identifier: BSD-3-Clause */
/* Which pages of a range are free. All that is known of them is in a table
 * beside them with an entry per page, so nothing is stored in the pages, which
 * other processes write, and nothing is allocated: malloc may be the caller.
 * The table is sparse, as the memory that it describes is.
 *
 * Free stretches are in lists by size, four to a doubling. A stretch is joined
 * with its free neighbours when it comes back. */
#ifndef ASPEN_RUNTIME_CASPER_ARENA_EXTENTS_H
#define ASPEN_RUNTIME_CASPER_ARENA_EXTENTS_H

#include <stdint.h>

/* Sizes of 1, 2, 3 pages, and from 4 to 2^32. */
enum { ASPX_EXTENT_BINS = 124 };

#define ASPX_EXTENT_NONE UINT32_MAX

struct aspx_extent_page {
    uint32_t begins;     /* a free stretch of so many pages; 0: none */
    uint32_t ends;       /* likewise, with this page as its last */
    uint32_t prev, next; /* where one begins: in its list */
};

struct aspx_extents {
    struct aspx_extent_page *table;
    uint32_t npages;
    uint64_t origin; /* the number of page 0 in the address space */
    uint32_t bins[ASPX_EXTENT_BINS]; /* the first of each list */
};

/* Begin with npages free pages, below ASPX_EXTENT_NONE.
 *   origin  alignment is that of addresses: the page that page 0 is there
 * Returns 0, or -1 with errno when there is no address space for the table:
 * 16 bytes for each page. */
int aspx_extents_begin(struct aspx_extents *extents, uint32_t npages,
                       uint64_t origin);

/* Free the table. Takes what never began, all zeros. */
void aspx_extents_end(struct aspx_extents *extents);

/* Take pages, in a row.
 *   align  in pages, a power of two
 * Returns the first one, or ASPX_EXTENT_NONE.  Cost: O(1), unless hardly
 * anything is free. Threads: one at a time. */
uint32_t aspx_extents_take(struct aspx_extents *extents, uint32_t pages,
                           uint32_t align);

/* Give pages back that were taken: all that were taken together, or a part.
 * Cost: O(1). Threads: one at a time. */
void aspx_extents_give(struct aspx_extents *extents, uint32_t first,
                       uint32_t pages);

#endif
