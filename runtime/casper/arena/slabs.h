/* SPDX-License-Identifier: BSD-3-Clause */
/* Small blocks of the arena. A slab of 64 KiB, aligned so, is cut into blocks
 * of one size class; what is taken of it is noted beside it, so nothing is
 * stored in memory that other processes write, and the slab of an address is
 * found by its upper bits.
 *
 * No block is smaller than 64 bytes, or begins elsewhere than at a multiple of
 * that: MPICH over UCX takes a window that begins at no multiple of 16 for one
 * that begins somewhere else (casper/window/native.h), and two blocks share no
 * line. */
#ifndef ASPEN_RUNTIME_CASPER_ARENA_SLABS_H
#define ASPEN_RUNTIME_CASPER_ARENA_SLABS_H

#include "arena.h"

/* Larger blocks have pages of their own, of which at most a fifth is lost. */
enum { ASPX_SLAB_BLOCK_MAX = 16 << 10 };

/* Take a block.
 *   bytes  1 to ASPX_SLAB_BLOCK_MAX
 *   align  a power of two up to ASPX_SLAB_BLOCK_MAX
 * Returns NULL when there is no memory. Threads: any.
 * Cost: a lock; once in a while a slab: a stretch of the arena. */
void *aspx_slabs_take(struct aspx_arena *arena, uint64_t bytes, uint64_t align);

/* Give a block back. Returns false when this is no block that is taken.
 * A slab that nobody uses goes back to the arena, and its memory to the system,
 * unless it is the last of its class with room. Threads: any. */
bool aspx_slabs_give(struct aspx_arena *arena, void *addr);

#endif
