/* SPDX-License-Identifier: BSD-3-Clause */
#include "keys.h"

#include <stdio.h>
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

static const char *name_of(const void *row)
{
    const char *name;

    memcpy(&name, row, sizeof(name));
    return name;
}

void spec_refuse(const struct spec_form *form, const char *text,
                 const char *word)
{
    fprintf(stderr, "%s: cannot make sense of '%s' in '%s'\n", form->program,
            word, text);
    exit(2);
}

static void set_word(const struct spec_form *form, const char *text, char *word,
                     void *options)
{
    char *value = strchr(word, '=');

    if (value)
        *value++ = '\0';
    if (!value || (!key_set(form->keys, options, word, value) &&
                   !(form->set_other && form->set_other(options, word, value))))
        spec_refuse(form, text, word);
}

const void *spec_read(const struct spec_form *form, const char *text,
                      void *options)
{
    const char *row = form->kernels;
    char *copy = strdup(text), *rest = copy, *name = strsep(&rest, ",");

    while (name_of(row) && strcmp(name_of(row), name) != 0)
        row += form->row_bytes;
    if (!name_of(row))
        spec_refuse(form, text, name);
    while (rest)
        set_word(form, text, strsep(&rest, ","), options);
    free(copy);
    return row;
}
