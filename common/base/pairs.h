/* SPDX-License-Identifier: BSD-3-Clause */
/* "k=4,wait=sleep": the parameters of an algorithm as a text. A table has a row
 * for each key, with the field that it stands for; it is read and written by
 * it. Nothing in a text is trusted.
 *
 * Threads: reentrant. */
#ifndef ASPEN_COMMON_BASE_PAIRS_H
#define ASPEN_COMMON_BASE_PAIRS_H

#include "common/base/err.h"
#include "common/base/strbuf.h"

#include <stddef.h>
#include <stdint.h>

struct asp_pair {
    const char *key;
    size_t at, size; /* of the field: offset, and bytes: 1, 2, 4 or 8 */
    uint64_t least, most;
    /* The field is the index of one of these; one that is NULL cannot be said.
     * NULL: a number. */
    const char *const *words;
    size_t nwords;
    uint32_t sides; /* numbers in an array, 2 bytes each: "4x4"; 0: none */
};

#define ASP_PAIR_NUMBER(name, type, field, low, high)                          \
    {                                                                          \
        .key = (name), .at = offsetof(type, field),                            \
        .size = sizeof(((type *) 0)->field), .least = (low), .most = (high)    \
    }
#define ASP_PAIR_WORD(name, type, field, list)                                 \
    {                                                                          \
        .key = (name), .at = offsetof(type, field),                            \
        .size = sizeof(((type *) 0)->field), .words = (list),                  \
        .nwords = sizeof(list) / sizeof((list)[0])                             \
    }
#define ASP_PAIR_SIDES(name, type, field)                                      \
    {                                                                          \
        .key = (name), .at = offsetof(type, field), .size = sizeof(uint16_t),  \
        .least = 1, .most = UINT16_MAX,                                        \
        .sides = sizeof(((type *) 0)->field) / sizeof(uint16_t)                \
    }

/* Read pairs, in any order and each key at most once, into the fields of
 * object; the others stay as they are.
 *   pairs    n rows, at most 32
 *   given_p  gets a bit for each row that the text has
 * Returns 0, or -1 with errno EINVAL and the pair that is none in err; object
 * is then changed in part. */
int asp_pairs_read(const struct asp_pair *pairs, size_t n, const char *text,
                   void *object, uint32_t *given_p, struct asp_err *err);

/* Add the rows whose bits are in `which`, in the order of the table, each
 * behind a comma; behind a colon, none. */
void asp_pairs_write(const struct asp_pair *pairs, size_t n, const void *object,
                     uint32_t which, struct asp_strbuf *sb);

#endif
