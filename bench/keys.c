/* SPDX-License-Identifier: BSD-3-Clause */
#include "keys.h"

#include <stdlib.h>
#include <string.h>

enum { NUMBER_MOST = 1 << 30 };

/* The place of `word` in "a|b|c", or -1. */
static int find_word(const char *words, const char *word)
{
    size_t length = strlen(word);

    for (int i = 0; words; i++) {
        if (strncmp(words, word, length) == 0 &&
            (words[length] == '|' || words[length] == '\0'))
            return i;
        words = strchr(words, '|');
        words += words != NULL;
    }
    return -1;
}

bool key_set(const struct key *keys, void *options, const char *name,
             const char *value)
{
    char *end;
    long number;

    while (keys->name && strcmp(keys->name, name) != 0)
        keys++;
    if (!keys->name)
        return false;
    number = keys->words ? find_word(keys->words, value)
                         : strtol(value, &end, 10);
    if (number < 0 || number > NUMBER_MOST || (!keys->words && *end))
        return false;
    *(int *) (void *) ((char *) options + keys->offset) = (int) number;
    return true;
}
