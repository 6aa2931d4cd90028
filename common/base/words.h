/* SPDX-License-Identifier: BSD-3-Clause */
/* Words and numbers in texts: each is bounded, and none is changed by a sign,
 * a blank or a base other than ten. */
#ifndef ASPEN_COMMON_BASE_WORDS_H
#define ASPEN_COMMON_BASE_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decimal digits at *text_p, which moves past them. Returns 0, or -1 when there
 * are none or the number is larger than max; nothing is changed then. */
int asp_take_number(const char **text_p, uint32_t max, uint32_t *out_p);

/* The same of a whole text. */
int asp_parse_number(const char *text, uint32_t max, uint32_t *out_p);

/* "4" or "4-7" at *text_p; of a single number both are it. Returns 0, or -1
 * also when the second is smaller. */
int asp_take_range(const char **text_p, uint32_t max, uint32_t *first_p,
                   uint32_t *last_p);

/* Are these len bytes that word? */
bool asp_is_word(const char *text, size_t len, const char *word);

/* Are they one of the words "a|b|c"? No bytes are none of them. */
bool asp_is_among(const char *text, size_t len, const char *words);

/* A variable of the environment; NULL where it is not set, is empty, or has no
 * name. Threads: as getenv(). */
const char *asp_variable(const char *name);

/* The words of an array that ends with NULL. */
size_t asp_words_count(char *const words[]);

/* Where text begins with prefix, what follows it, else NULL. */
const char *asp_after(const char *text, const char *prefix);

#endif
