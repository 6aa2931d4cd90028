/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffers of messages: bytes that each tell of which message they are and where
 * in it, and guard bytes around that nothing may write. */
#ifndef ASPEN_TESTS_P2P_BYTES_H
#define ASPEN_TESTS_P2P_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    GUARD = 64,         /* bytes on each side of a buffer: a cache line */
    GUARD_BYTE = 0x5a,  /* these, and what nothing was received into */
    OVERWRITTEN = 0x3c, /* a buffer that was sent, once MPI has given it back */
};

/* Byte i of a message of this number. Multiplied by odd constants (Knuth's and
 * one of MurmurHash3), so that pieces of it differ, wherever it is cut. */
static inline unsigned char byte_of(uint32_t number, size_t i)
{
    return (
        unsigned char) (((uint32_t) i * 2654435761u + number * 0x85ebca6bu) >>
                        24);
}

/* A buffer between guards, all GUARD_BYTE; for buffer_free(). */
static inline unsigned char *buffer_new(size_t bytes)
{
    unsigned char *at = malloc(bytes + 2 * GUARD);

    if (!at)
        abort();
    memset(at, GUARD_BYTE, bytes + 2 * GUARD);
    return at + GUARD;
}

static inline void buffer_free(unsigned char *at)
{
    free(at - GUARD);
}

static inline void buffer_fill(unsigned char *at, size_t bytes, uint32_t number)
{
    for (size_t i = 0; i < bytes; i++)
        at[i] = byte_of(number, i);
}

/* How many bytes of a buffer, guards included, are not as they must be where
 * the first `got` are of message `number` and no others were written. */
static inline size_t buffer_wrong(const unsigned char *at, size_t bytes,
                                  size_t got, uint32_t number)
{
    size_t strange = 0;

    for (size_t i = 0; i < got; i++)
        strange += at[i] != byte_of(number, i);
    for (size_t i = got; i < bytes + GUARD; i++)
        strange += at[i] != GUARD_BYTE;
    for (size_t i = 1; i <= GUARD; i++)
        strange += *(at - i) != GUARD_BYTE;
    return strange;
}

#endif
