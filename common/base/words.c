/* SPDX-License-Identifier: BSD-3-Clause */
/* Words and numbers in texts; see words.h. */
#include "words.h"

#include <stdlib.h>
#include <string.h>

int asp_take_number(const char **text_p, uint32_t max, uint32_t *out_p)
{
    const char *text = *text_p;
    uint64_t value = 0;

    for (; *text >= '0' && *text <= '9'; text++) {
        value = value * 10 + (uint64_t) (*text - '0');
        if (value > max)
            return -1;
    }
    if (text == *text_p)
        return -1;
    *text_p = text;
    *out_p = (uint32_t) value;
    return 0;
}

int asp_parse_number(const char *text, uint32_t max, uint32_t *out_p)
{
    uint32_t value;

    if (asp_take_number(&text, max, &value) < 0 || *text != '\0')
        return -1;
    *out_p = value;
    return 0;
}

int asp_take_range(const char **text_p, uint32_t max, uint32_t *first_p,
                   uint32_t *last_p)
{
    const char *text = *text_p;

    if (asp_take_number(&text, max, first_p) < 0)
        return -1;
    *last_p = *first_p;
    if (*text == '-') {
        text++;
        if (asp_take_number(&text, max, last_p) < 0 || *last_p < *first_p)
            return -1;
    }
    *text_p = text;
    return 0;
}

bool asp_is_word(const char *text, size_t len, const char *word)
{
    return strncmp(text, word, len) == 0 && word[len] == '\0';
}

bool asp_is_among(const char *text, size_t len, const char *words)
{
    for (const char *at = words; len && *at;) {
        size_t n = strcspn(at, "|");

        if (n == len && strncmp(at, text, n) == 0)
            return true;
        at += n + (at[n] == '|');
    }
    return false;
}

const char *asp_after(const char *text, const char *prefix)
{
    size_t len = strlen(prefix);

    return strncmp(text, prefix, len) == 0 ? text + len : NULL;
}

const char *asp_variable(const char *name)
{
    const char *value = name ? getenv(name) : NULL;

    return value && *value ? value : NULL;
}

size_t asp_words_count(char *const words[])
{
    size_t n = 0;

    while (words[n])
        n++;
    return n;
}
