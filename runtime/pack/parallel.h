/* SPDX-License-Identifier: BSD-3-Clause */
/* Packs and unpacks by several threads, where that is likely to be faster. */
#ifndef ASPEN_RUNTIME_PACK_PARALLEL_H
#define ASPEN_RUNTIME_PACK_PARALLEL_H

#include "engine.h"

/* Nothing below that in all, nor below the other for each thread: what is
 * copied should take some times longer than to hand it out. */
enum { ASPX_PARALLEL_MIN = 64 << 10, ASPX_PARALLEL_EACH_MIN = 32 << 10 };

/* How many threads, the caller included, should copy so many bytes of the
 * stream of a typemap. 1: alone it is as fast, or nobody is idle.
 *
 *   gain = t - t / threads, t = bytes * cost;  it must exceed tasks + wake-up
 *
 * The cost of a byte is learnt for each layout class, which is the size of the
 * first blocks of the typemap, by powers of two. Threads: any. */
unsigned aspx_parallel_threads(const struct aspx_typemap *typemap,
                               uint64_t bytes);

/* The model alone: picoseconds for a byte, `idle` threads besides the caller.
 */
unsigned aspx_parallel_choose(uint64_t bytes, uint64_t ps_per_byte,
                              unsigned idle);

/* As aspx_typemap_pack() and aspx_typemap_unpack() of bytes 0 to bytes - 1, by
 * the caller and up to threads - 1 helpers (openmp.h). Threads: any. */
void aspx_parallel_pack(const struct aspx_typemap *typemap, const void *buffer,
                        uint64_t count, void *stream, uint64_t bytes,
                        unsigned threads);
void aspx_parallel_unpack(const struct aspx_typemap *typemap, void *buffer,
                          uint64_t count, const void *stream, uint64_t bytes,
                          unsigned threads);

/* Of this rank so far: buffers that more than one thread has packed or
 * unpacked. */
struct aspx_parallel_counts {
    uint64_t buffers, bytes, chunks;
    uint64_t helpers; /* that took part, summed over buffers */
    uint64_t ns;      /* of the callers, for these buffers */
};
struct aspx_parallel_counts aspx_parallel_counts(void);

#endif
