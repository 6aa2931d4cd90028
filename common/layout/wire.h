/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by encode.c, decode.c and check.c only. */
#ifndef ASPEN_COMMON_LAYOUT_WIRE_H
#define ASPEN_COMMON_LAYOUT_WIRE_H

#include "layout.h"

#define ASP_LAYOUT_MAGIC "aspen-layout/"

/* Do the parts of a layout agree with each other?
 * Returns 0, or -1 with errno EINVAL or ENOMEM and the reason in err. */
int asp_layout_check(const struct asp_layout *layout, struct asp_err *err);

#endif
