/* SPDX-License-Identifier: BSD-3-Clause */
/* One loop for each kind of copy, which the compiler makes anew for each size,
 * each direction, and for offsets and strides: what does not change in a loop
 * is a constant of a function that is always inlined. */
#include "config.h"

#include "strided.h"

#define ALWAYS static inline __attribute__((always_inline))

/* CASE(bytes) for each size that is worth loops of its own: C's basic types,
 * two and three of them, and up to a line of the cache. Above, the call of
 * memcpy() is small beside what it does. */
#define SIZES(CASE)                                                            \
    CASE(1)                                                                    \
    CASE(2)                                                                    \
    CASE(4)                                                                    \
    CASE(8)                                                                    \
    CASE(12)                                                                   \
    CASE(16)                                                                   \
    CASE(24)                                                                   \
    CASE(32)                                                                   \
    CASE(48)                                                                   \
    CASE(64)

/* A block, in the direction of the copy. */
ALWAYS void move(bool unpack, char *buffer, char *stream, size_t bytes)
{
    if (unpack)
        memcpy(buffer, stream, bytes);
    else
        memcpy(stream, buffer, bytes);
}

/* ---- blocks --------------------------------------------------------------- */

/* Four at a time: a step of both pointers costs as much as a small block. */
ALWAYS void strided_blocks(bool unpack, char *buffer, int64_t buffer_stride,
                           char *stream, int64_t stream_stride, uint64_t n,
                           size_t bytes)
{
    for (; n >= 4; n -= 4) {
        move(unpack, buffer, stream, bytes);
        move(unpack, buffer + buffer_stride, stream + stream_stride, bytes);
        buffer += 2 * buffer_stride;
        stream += 2 * stream_stride;
        move(unpack, buffer, stream, bytes);
        move(unpack, buffer + buffer_stride, stream + stream_stride, bytes);
        buffer += 2 * buffer_stride;
        stream += 2 * stream_stride;
    }
    for (; n; n--) {
        move(unpack, buffer, stream, bytes);
        buffer += buffer_stride;
        stream += stream_stride;
    }
}

ALWAYS void scattered_blocks(bool unpack, char *buffer, const int64_t *offsets,
                             char *stream, int64_t stream_stride, uint64_t n,
                             size_t bytes)
{
    for (uint64_t i = 0; i < n; i++) {
        move(unpack, aspx_at(buffer, offsets[i]), stream, bytes);
        stream += stream_stride;
    }
}

ALWAYS void copy_blocks(bool unpack, const struct aspx_copies *c, size_t bytes)
{
    if (c->offsets)
        scattered_blocks(unpack, c->buffer, c->offsets, c->stream,
                         c->stream_stride, c->n, bytes);
    else
        strided_blocks(unpack, c->buffer, c->buffer_stride, c->stream,
                       c->stream_stride, c->n, bytes);
}

ALWAYS void copy_sized_blocks(bool unpack, const struct aspx_copies *c,
                              size_t bytes)
{
    switch (bytes) {
#define CASE(size)                                                             \
    case size:                                                                 \
        copy_blocks(unpack, c, size);                                          \
        break;
        SIZES(CASE)
#undef CASE
    default:
        copy_blocks(unpack, c, bytes);
    }
}

void aspx_copy_blocks(bool unpack, const struct aspx_copies *copies,
                      size_t bytes)
{
    if (unpack)
        copy_sized_blocks(true, copies, bytes);
    else
        copy_sized_blocks(false, copies, bytes);
}

/* ---- runs of blocks ------------------------------------------------------- */

struct run {
    uint64_t count;
    int64_t stride;
};

ALWAYS void copy_runs(bool unpack, const struct aspx_copies *c, struct run run,
                      size_t bytes)
{
    char *buffer = c->buffer, *stream = c->stream;

    for (uint64_t i = 0; i < c->n; i++) {
        if (c->offsets)
            buffer = aspx_at(c->buffer, c->offsets[i]);
        strided_blocks(unpack, buffer, run.stride, stream, (int64_t) bytes,
                       run.count, bytes);
        buffer = aspx_at(buffer, c->buffer_stride);
        stream += c->stream_stride;
    }
}

ALWAYS void copy_sized_runs(bool unpack, const struct aspx_copies *c,
                            struct run run, size_t bytes)
{
    switch (bytes) {
#define CASE(size)                                                             \
    case size:                                                                 \
        copy_runs(unpack, c, run, size);                                       \
        break;
        SIZES(CASE)
#undef CASE
    default:
        copy_runs(unpack, c, run, bytes);
    }
}

void aspx_copy_runs(bool unpack, const struct aspx_copies *copies,
                    uint64_t count, int64_t stride, size_t bytes)
{
    const struct run run = {count, stride};

    if (unpack)
        copy_sized_runs(true, copies, run, bytes);
    else
        copy_sized_runs(false, copies, run, bytes);
}
