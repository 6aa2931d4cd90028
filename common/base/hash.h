/* SPDX-License-Identifier: BSD-3-Clause */
/* FNV-1a, 64 bits: a hash to compare what is meant to be equal. Not against
 * somebody who wants two to be equal (common/tune/sha256.h). */
#ifndef ASPEN_COMMON_BASE_HASH_H
#define ASPEN_COMMON_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define ASP_HASH_START UINT64_C(0xcbf29ce484222325)

/* Go on with a hash: ASP_HASH_START, or one of what comes before. */
static inline uint64_t asp_hash(uint64_t hash, const void *bytes, size_t n)
{
    const unsigned char *byte = bytes;

    for (size_t i = 0; i < n; i++)
        hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3);
    return hash;
}

#endif
