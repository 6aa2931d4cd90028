/* SPDX-License-Identifier: BSD-3-Clause */
/* The bytes of a Put or Get on the own node. */
#ifndef ASPEN_RUNTIME_CASPER_RMA_COPY_H
#define ASPEN_RUNTIME_CASPER_RMA_COPY_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The C library copies more than 2 KiB with "rep movsb" where the processor
 * says that it is fast. On AMD's Zen 3 it is a twentieth as fast when the
 * destination lies 1 to 31 bytes further into its page than the source. So lie
 * a large block of malloc, which begins 16 bytes into a page, and memory that
 * begins a page, as windows do. Pieces this long are copied another way. */
enum { ASPX_COPY_PAGE = 4096, ASPX_COPY_NEAR = 32, ASPX_COPY_PIECE = 2048 };

/* As memmove. Threads: any. */
static inline void aspx_copy(void *to, const void *from, size_t bytes)
{
    uintptr_t ahead = (uintptr_t) to - (uintptr_t) from;
    uintptr_t in_page = ahead % ASPX_COPY_PAGE;
    size_t piece = bytes;
    char *out = to;
    const char *in = from;

    /* Neither buffer may reach the other: it would be overwritten. */
    if (in_page > 0 && in_page < ASPX_COPY_NEAR && ahead >= bytes &&
        -ahead >= bytes)
        piece = ASPX_COPY_PIECE;
    /* Of a memcpy of 2,048 bytes the compiler would make "rep movsq". */
    __asm__("" : "+r"(piece));
    for (; bytes > piece; bytes -= piece) {
        memcpy(out, in, piece);
        out += piece;
        in += piece;
    }
    memmove(out, in, bytes);
}

#endif
