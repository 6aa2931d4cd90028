/* SPDX-License-Identifier: BSD-3-Clause */
/* Pieces are cut from chunks of 1 KiB, or from a chunk of their own if they are
 * larger. The chunks form a list, by which they are freed. */
#include "config.h"

#include "region.h"

#include <stdalign.h>
#include <stdlib.h>

/* Small pieces share a chunk: a description of a common type fits into one. */
enum { CHUNK_BYTES = 1024 };

struct aspx_region_chunk {
    struct aspx_region_chunk *next;
    size_t used, size;
    alignas(max_align_t) char bytes[];
};

static struct aspx_region_chunk *add_chunk(struct aspx_region *region,
                                           size_t bytes)
{
    size_t size = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
    struct aspx_region_chunk *chunk = malloc(sizeof(*chunk) + size);

    if (!chunk)
        return NULL;
    *chunk = (struct aspx_region_chunk){.next = region->chunks, .size = size};
    region->chunks = chunk;
    return chunk;
}

static void *take_bytes(struct aspx_region *region, size_t bytes)
{
    struct aspx_region_chunk *chunk = region->chunks;
    void *piece;

    if (bytes > region->left)
        return NULL;
    if (!chunk || chunk->size - chunk->used < bytes)
        chunk = add_chunk(region, bytes);
    if (!chunk)
        return NULL;
    piece = chunk->bytes + chunk->used;
    chunk->used += bytes;
    region->left -= bytes;
    return piece;
}

void *aspx_region_take(struct aspx_region *region, size_t n, size_t bytes)
{
    const size_t align = alignof(max_align_t);
    size_t all, rounded;
    void *piece = NULL;

    if (!__builtin_mul_overflow(n, bytes, &all) &&
        !__builtin_add_overflow(all, align, &rounded))
        piece = take_bytes(region, rounded / align * align);
    if (!piece)
        region->full = true;
    return piece;
}

void aspx_region_free(struct aspx_region *region)
{
    while (region->chunks) {
        struct aspx_region_chunk *chunk = region->chunks;

        region->chunks = chunk->next;
        free(chunk);
    }
}
