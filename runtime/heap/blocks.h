/* SPDX-License-Identifier: BSD-3-Clause */
/* Large blocks from the memory that was offered: used by interpose.c only. */
#ifndef ASPEN_RUNTIME_HEAP_BLOCKS_H
#define ASPEN_RUNTIME_HEAP_BLOCKS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Allocations of at least this many bytes are tried here; SIZE_MAX until there
 * is an offer, and again once it is withdrawn. */
extern _Atomic size_t aspx_blocks_threshold;

/* Where blocks lie; no address is in it until there is an offer. */
extern _Atomic uintptr_t aspx_blocks_base;
extern _Atomic size_t aspx_blocks_bytes;

static inline bool aspx_blocks_want(size_t bytes)
{
    return bytes >=
           atomic_load_explicit(&aspx_blocks_threshold, memory_order_acquire);
}

/* A caller with an address of a block got it after the offer was published. */
static inline bool aspx_blocks_have(const void *addr)
{
    return (uintptr_t) addr -
               atomic_load_explicit(&aspx_blocks_base, memory_order_relaxed) <
           atomic_load_explicit(&aspx_blocks_bytes, memory_order_relaxed);
}

/* In interpose.c: is the next allocator in line that of the C library? */
bool aspx_next_is_libc(void);

/* Take a block.
 *   align     a power of two
 *   zeroed_p  is it zero filled?
 * Returns NULL when there is none to have: use the ordinary heap. Keeps errno.
 * Threads: any.  Cost: one lock, O(blocks kept); a fresh one another lock. */
void *aspx_blocks_take(size_t bytes, size_t align, bool *zeroed_p);

/* Give a block back. An address that is none ends the process, as the C
 * library does. Keeps errno. Threads: any. */
void aspx_blocks_give(void *addr);

/* Usable bytes of a block. */
size_t aspx_blocks_size(const void *addr);

/* Make a block fit `bytes` where it is. Returns false when it must move. */
bool aspx_blocks_resize(void *addr, size_t bytes);

#endif
