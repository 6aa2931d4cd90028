/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies any range of the packed stream of elements of a typemap. */
#ifndef ASPEN_RUNTIME_PACK_ENGINE_H
#define ASPEN_RUNTIME_PACK_ENGINE_H

#include "node.h"

/* What is known of a datatype. */
struct aspx_typemap {
    uint64_t size;   /* bytes of the packed stream of one element; may be 0 */
    int64_t extent;  /* from one element to the next */
    unsigned number; /* bytes of each number if all are alike; else 1 */
    int64_t offset; /* of the origin of `node` from the address of an element */
    const struct aspx_node *node; /* NULL: one block of `size` bytes */
    struct aspx_region region;    /* where nodes are */
};

/* Bytes of the packed stream of count elements. False: they are more than 2^63
 * - 1. */
static inline bool aspx_typemap_bytes(const struct aspx_typemap *typemap,
                                      uint64_t count, uint64_t *bytes)
{
    return !__builtin_mul_overflow(typemap->size, count, bytes) &&
           *bytes <= INT64_MAX;
}

/* Copy bytes from .. from + bytes - 1 of the packed stream of count elements at
 * `buffer`: pack into `stream`, or unpack from it. The stream holds the bytes
 * of the elements in the order of their typemap, and `stream` points to the
 * byte `from` of it. Ranges need not end where basic elements do.
 * Returns how many bytes were copied: less than asked for where the stream is
 * shorter. Bytes of the buffer beyond the range are not touched.
 * Cost of the way to the first byte: log n in lists whose entries differ, else
 * constant; per level of loops.
 * Threads: any; the caller keeps others away from the memory. */
uint64_t aspx_typemap_pack(const struct aspx_typemap *typemap,
                           const void *buffer, uint64_t count, uint64_t from,
                           void *stream, uint64_t bytes);
uint64_t aspx_typemap_unpack(const struct aspx_typemap *typemap, void *buffer,
                             uint64_t count, uint64_t from, const void *stream,
                             uint64_t bytes);

#endif
