/* SPDX-License-Identifier: BSD-3-Clause */
/* For fuzz tests that are the same each time: texts that are nearly right. */
#ifndef ASPEN_COMMON_BASE_MUTATE_H
#define ASPEN_COMMON_BASE_MUTATE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct asp_mutate {
    uint32_t edits, span;     /* at most */
    const char *bytes;        /* to write over others */
    const char *const *edges; /* words likewise; NULL: none */
    uint32_t nedges;
};

static inline uint32_t asp_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/* A few changes: bits, bytes, pieces cut out or doubled, words.
 *   size  of the buffer
 * Returns the new length. */
static inline size_t asp_mutate(const struct asp_mutate *how, char *text,
                                size_t len, size_t size, uint32_t *seed)
{
    uint32_t edits = 1 + asp_random(seed) % how->edits;

    for (; edits && len; edits--) {
        size_t at = asp_random(seed) % len;
        size_t span = 1 + asp_random(seed) % how->span;
        const char *word = how->nedges
                               ? how->edges[asp_random(seed) % how->nedges]
                               : "";

        if (span > len - at)
            span = len - at;
        switch (asp_random(seed) % (how->nedges ? 5 : 4)) {
        case 0:
            text[at] = (char) (text[at] ^ (1 << asp_random(seed) % 8));
            break;
        case 1:
            text[at] = how->bytes[asp_random(seed) % strlen(how->bytes)];
            break;
        case 2:
            memmove(text + at, text + at + span, len - at - span);
            len -= span;
            break;
        case 3:
            if (len + span > size)
                break;
            memmove(text + at + span, text + at, len - at);
            len += span;
            break;
        case 4:
            if (strlen(word) <= len - at)
                memcpy(text + at, word, strlen(word));
            break;
        }
    }
    return len;
}

#endif
