/* SPDX-License-Identifier: BSD-3-Clause */
/* A text that is put together piece by piece: in a buffer of the caller, where
 * it ends at the last byte, or in memory that grows. Errors are kept until the
 * end, so that pieces can be added without a look at each.
 * Threads: a builder belongs to one. */
#ifndef ASPEN_COMMON_BASE_STRBUF_H
#define ASPEN_COMMON_BASE_STRBUF_H

#include <stdbool.h>
#include <stddef.h>

struct asp_strbuf {
    char *text;  /* always terminated, unless size is 0 */
    size_t size; /* bytes of text */
    size_t len;  /* of the text, without its NUL */
    bool cut;    /* something had no room: nothing more is added */
    bool grows;  /* text is allocated, and ours until asp_strbuf_take() */
};

/* On a buffer of the caller, which may be of no bytes. */
struct asp_strbuf asp_strbuf_on(char *buf, size_t size);

/* The same on an array, whose size is known. */
#define ASP_STRBUF(array) asp_strbuf_on((array), sizeof(array))

/* In memory that grows. */
#define ASP_STRBUF_GROWING                                                     \
    {                                                                          \
        .grows = true                                                          \
    }

/* Add a piece at the end. One that does not fit is cut as by snprintf(). */
void asp_strbuf_add(struct asp_strbuf *sb, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* The length, or -1 with errno ENOSPC when the text was cut. */
int asp_strbuf_end(const struct asp_strbuf *sb);

/* The text of a growing one, for the caller to free(); NULL with errno ENOMEM
 * when memory was short. The builder is then empty. */
char *asp_strbuf_take(struct asp_strbuf *sb);

#endif
