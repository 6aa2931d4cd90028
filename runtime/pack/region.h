/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that is taken piece by piece, up to a bound, and given back at once.
 */
#ifndef ASPEN_RUNTIME_PACK_REGION_H
#define ASPEN_RUNTIME_PACK_REGION_H

#include <stdbool.h>
#include <stddef.h>

struct aspx_region_chunk;

/* {.left = bound} is an empty one. */
struct aspx_region {
    struct aspx_region_chunk *chunks;
    size_t left; /* bytes that may still be taken */
    bool full;   /* something was refused: by the bound, or by malloc */
};

/* n pieces of `bytes` each, aligned for any object; not cleared. NULL, and
 * full is set, when the bound or the machine has not so much. Zero pieces are
 * one byte. */
void *aspx_region_take(struct aspx_region *region, size_t n, size_t bytes);

void aspx_region_free(struct aspx_region *region);

#endif
