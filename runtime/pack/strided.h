/* SPDX-License-Identifier: BSD-3-Clause */
/* The innermost loops: copy blocks of one size. Common sizes are moved by a few
 * instructions that are chosen once for all blocks, others by memcpy(). Source
 * and destination do not overlap. */
#ifndef ASPEN_RUNTIME_PACK_STRIDED_H
#define ASPEN_RUNTIME_PACK_STRIDED_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* n blocks from `from`, from + from_stride, ... to the same of `to`. */
void aspx_copy_strided(char *to, int64_t to_stride, const char *from,
                       int64_t from_stride, size_t bytes, size_t n);

/* n blocks that lie at from + offsets[i], one after the other to `to`; and back
 * to to + offsets[i]. */
void aspx_copy_gather(char *to, const char *from, const int64_t *offsets,
                      size_t bytes, size_t n);
void aspx_copy_scatter(char *to, const int64_t *offsets, const char *from,
                       size_t bytes, size_t n);

/* One block. */
static inline void aspx_copy_block(char *to, const char *from, size_t bytes)
{
    if (bytes == 8)
        memcpy(to, from, 8);
    else if (bytes == 4)
        memcpy(to, from, 4);
    else
        memcpy(to, from, bytes);
}

#endif
