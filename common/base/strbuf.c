/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts put together piece by piece; see strbuf.h. */
#include "strbuf.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { FIRST_BYTES = 256 }; /* of a growing text: a line or two */

struct asp_strbuf asp_strbuf_on(char *buf, size_t size)
{
    if (size)
        buf[0] = '\0';
    return (struct asp_strbuf){.text = buf, .size = size, .cut = size == 0};
}

/* Make room for n bytes more and a NUL. */
static bool grow(struct asp_strbuf *sb, size_t n)
{
    size_t size = sb->size ? sb->size : FIRST_BYTES;
    char *text;

    while (size - sb->len <= n)
        size *= 2;
    if (size == sb->size)
        return true;
    text = realloc(sb->text, size);
    if (text == NULL)
        return false;
    sb->text = text;
    sb->size = size;
    return true;
}

void asp_strbuf_add(struct asp_strbuf *sb, const char *fmt, ...)
{
    va_list args, again;
    int n;

    if (sb->cut)
        return;
    va_start(args, fmt);
    va_copy(again, args);
    n = vsnprintf(sb->text ? sb->text + sb->len : NULL, sb->size - sb->len, fmt,
                  args);
    if (n >= 0 && (size_t) n >= sb->size - sb->len && sb->grows &&
        grow(sb, (size_t) n))
        n = vsnprintf(sb->text + sb->len, sb->size - sb->len, fmt, again);
    va_end(again);
    va_end(args);
    sb->cut = n < 0 || (size_t) n >= sb->size - sb->len;
    if (!sb->cut)
        sb->len += (size_t) n;
    else if (n > 0 && sb->size)
        sb->len = sb->size - 1;
}

int asp_strbuf_end(const struct asp_strbuf *sb)
{
    if (!sb->cut)
        return (int) sb->len;
    errno = ENOSPC;
    return -1;
}

char *asp_strbuf_take(struct asp_strbuf *sb)
{
    char *text;

    asp_strbuf_add(sb, "%s", ""); /* none yet: an empty text */
    text = sb->text;
    if (sb->cut) {
        free(text);
        text = NULL;
        errno = ENOMEM;
    }
    *sb = (struct asp_strbuf) ASP_STRBUF_GROWING;
    return text;
}
