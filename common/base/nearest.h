/* SPDX-License-Identifier: BSD-3-Clause */
/* "did you mean": the word closest to a misspelt one. */
#ifndef ASPEN_COMMON_BASE_NEAREST_H
#define ASPEN_COMMON_BASE_NEAREST_H

#include <stddef.h>

/* The candidate with the fewest edits (insert, delete, replace, swap of
 * neighbours), or NULL when none is close enough to be meant. */
const char *asp_nearest(const char *word, const char *const candidates[],
                        size_t count);

#endif
