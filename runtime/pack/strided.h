/* SPDX-License-Identifier: BSD-3-Clause */
/* The innermost loops: copy blocks of one size. Common sizes are moved by a few
 * instructions that are chosen once for all blocks, others by memcpy(). Buffer
 * and stream do not overlap. */
#ifndef ASPEN_RUNTIME_PACK_STRIDED_H
#define ASPEN_RUNTIME_PACK_STRIDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Where n copies of something lie: copy i at buffer + offsets[i], or without
 * offsets at buffer + i * buffer_stride, and at stream + i * stream_stride. */
struct aspx_copies {
    char *buffer;
    const int64_t *offsets;
    int64_t buffer_stride;
    char *stream;
    int64_t stream_stride;
    uint64_t n;
};

/* The buffer's address may be MPI_BOTTOM, that is NULL, or that of another
 * object: no arithmetic of C. */
static inline char *aspx_at(char *buffer, int64_t offset)
{
    return (char *) ((uintptr_t) buffer + (uintptr_t) offset);
}

/* From the buffer to the stream; back, to unpack. Each copy is a block. */
void aspx_copy_blocks(bool unpack, const struct aspx_copies *copies,
                      size_t bytes);

/* Each copy is a run of count blocks, which lie `stride` apart in the buffer
 * and side by side in the stream. */
void aspx_copy_runs(bool unpack, const struct aspx_copies *copies,
                    uint64_t count, int64_t stride, size_t bytes);

/* Both ends of a block that is no longer than two of these moves. */
#define ASPX_MOVE_ENDS(to, from, bytes, move)                                  \
    do {                                                                       \
        char first_[move], last_[move];                                        \
                                                                               \
        memcpy(first_, (from), (move));                                        \
        memcpy(last_, (from) + (bytes) - (move), (move));                      \
        memcpy((to), first_, (move));                                          \
        memcpy((to) + (bytes) - (move), last_, (move));                        \
    } while (0)

/* One block, of any size but 0: without a call where it is short. */
static inline void aspx_copy_block(char *to, const char *from, size_t bytes)
{
    if (bytes > 32)
        memcpy(to, from, bytes);
    else if (bytes > 16)
        ASPX_MOVE_ENDS(to, from, bytes, 16);
    else if (bytes >= 8)
        ASPX_MOVE_ENDS(to, from, bytes, 8);
    else if (bytes >= 4)
        ASPX_MOVE_ENDS(to, from, bytes, 4);
    else if (bytes >= 2)
        ASPX_MOVE_ENDS(to, from, bytes, 2);
    else
        *to = *from;
}

#endif
