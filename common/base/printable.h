/* SPDX-License-Identifier: BSD-3-Clause */
/* Control characters in UTF-8. What a user or a file says is quoted in
 * messages, which end on terminals and in log files: none may get there. */
#ifndef ASPEN_COMMON_BASE_PRINTABLE_H
#define ASPEN_COMMON_BASE_PRINTABLE_H

#include <stddef.h>

/* The length in bytes of the control character at c: 1 for those of ASCII, 2
 * for U+0080 to U+009F, which terminals take for ESC and a letter; 0 for
 * another character and the end of the text. */
static inline size_t asp_control(const char *c)
{
    const unsigned char *byte = (const unsigned char *) c;

    if (byte[0] == 0xc2 && byte[1] >= 0x80 && byte[1] < 0xa0)
        return 2;
    return (byte[0] && byte[0] < ' ') || byte[0] == 0x7f;
}

#endif
