/* SPDX-License-Identifier: BSD-3-Clause */
/* %XX escapes; see escape.h. */
#include "escape.h"

#include <string.h>

static const char hex[] = "0123456789ABCDEF";

static bool is_plain(char c, const char *marks)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || (c && strchr(marks, c) != NULL);
}

void asp_escape(struct asp_strbuf *sb, const char *value, const char *marks)
{
    for (; *value; value++) {
        if (is_plain(*value, marks))
            asp_strbuf_add(sb, "%c", *value);
        else
            asp_strbuf_add(sb, "%%%02X", (unsigned) (unsigned char) *value);
    }
}

const char *asp_unescape(const char **at_p, const char *end, const char *marks,
                         char *out_p)
{
    const char *at = *at_p, *high, *low;
    size_t byte;

    if (at < end && is_plain(*at, marks)) {
        *out_p = *at;
        *at_p = at + 1;
        return NULL;
    }
    if (end - at < 3 || *at != '%')
        return "unexpected character";
    high = memchr(hex, at[1], 16);
    low = memchr(hex, at[2], 16);
    if (!high || !low)
        return "bad %XX escape";
    byte = (size_t) (high - hex) * 16 + (size_t) (low - hex);
    if (byte < ' ' || byte == 127)
        return "control character";
    *out_p = (char) byte;
    *at_p = at + 3;
    return NULL;
}
