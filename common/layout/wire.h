/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by encode.c, decode.c and check.c only. */
#ifndef ASPEN_COMMON_LAYOUT_WIRE_H
#define ASPEN_COMMON_LAYOUT_WIRE_H

#include "layout.h"

#define ASP_LAYOUT_MAGIC "aspen-layout/"

/* Does this byte stand for itself in a value? All others are %XX. */
static inline bool asp_layout_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') ||
           (c && __builtin_strchr("._:,@+/-", c) != NULL);
}

/* Do the parts of a layout agree with each other?
 * Returns 0, or -1 with errno EINVAL or ENOMEM and the reason in err. */
int asp_layout_check(const struct asp_layout *layout, struct asp_err *err);

#endif
