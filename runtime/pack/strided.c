/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "strided.h"

/* CASE(bytes) for each size that is worth a loop of its own: C's basic types,
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

/* Four at a time: a step of both pointers costs as much as a small block.
 * `bytes` is a constant wherever this is expanded with one. */
static inline __attribute__((always_inline)) void copy_blocks(
    char *to, int64_t to_stride, const char *from, int64_t from_stride,
    size_t bytes, size_t n)
{
    for (; n >= 4; n -= 4) {
        memcpy(to, from, bytes);
        memcpy(to + to_stride, from + from_stride, bytes);
        to += 2 * to_stride;
        from += 2 * from_stride;
        memcpy(to, from, bytes);
        memcpy(to + to_stride, from + from_stride, bytes);
        to += 2 * to_stride;
        from += 2 * from_stride;
    }
    for (; n; n--) {
        memcpy(to, from, bytes);
        to += to_stride;
        from += from_stride;
    }
}

void aspx_copy_strided(char *to, int64_t to_stride, const char *from,
                       int64_t from_stride, size_t bytes, size_t n)
{
    switch (bytes) {
#define CASE(size)                                                             \
    case size:                                                                 \
        copy_blocks(to, to_stride, from, from_stride, size, n);                \
        break;
        SIZES(CASE)
#undef CASE
    default:
        copy_blocks(to, to_stride, from, from_stride, bytes, n);
    }
}

static inline __attribute__((always_inline)) void gather_blocks(
    char *to, const char *from, const int64_t *offsets, size_t bytes, size_t n)
{
    for (size_t i = 0; i < n; i++, to += bytes)
        memcpy(to, from + offsets[i], bytes);
}

void aspx_copy_gather(char *to, const char *from, const int64_t *offsets,
                      size_t bytes, size_t n)
{
    switch (bytes) {
#define CASE(size)                                                             \
    case size:                                                                 \
        gather_blocks(to, from, offsets, size, n);                             \
        break;
        SIZES(CASE)
#undef CASE
    default:
        gather_blocks(to, from, offsets, bytes, n);
    }
}

static inline __attribute__((always_inline)) void scatter_blocks(
    char *to, const int64_t *offsets, const char *from, size_t bytes, size_t n)
{
    for (size_t i = 0; i < n; i++, from += bytes)
        memcpy(to + offsets[i], from, bytes);
}

void aspx_copy_scatter(char *to, const int64_t *offsets, const char *from,
                       size_t bytes, size_t n)
{
    switch (bytes) {
#define CASE(size)                                                             \
    case size:                                                                 \
        scatter_blocks(to, offsets, from, size, n);                            \
        break;
        SIZES(CASE)
#undef CASE
    default:
        scatter_blocks(to, offsets, from, bytes, n);
    }
}
