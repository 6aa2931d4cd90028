/* SPDX-License-Identifier: BSD-3-Clause */
/* Values in the texts that pass between Aspen's programs: letters, digits and a
 * few marks stand for themselves, every other byte is %XX, so that what
 * separates values is never part of one. */
#ifndef ASPEN_COMMON_BASE_ESCAPE_H
#define ASPEN_COMMON_BASE_ESCAPE_H

#include "strbuf.h"

/* The marks of a layout's values. */
#define ASP_ESCAPE_MARKS "._:,@+/-"

/* Add a value with its escapes.
 *   marks  the punctuation that stands for itself */
void asp_escape(struct asp_strbuf *sb, const char *value, const char *marks);

/* One byte of an escaped value, at *at_p, which moves past it.
 * Returns NULL, or what is wrong: a character that should have been escaped, an
 * escape that is none, a control character. */
const char *asp_unescape(const char **at_p, const char *end, const char *marks,
                         char *out_p);

#endif
