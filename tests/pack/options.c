/* SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const struct option *find(const struct option *options, const char *word)
{
    if (strncmp(word, "--", 2) != 0)
        return NULL;
    for (; options->name; options++)
        if (strcmp(options->name, word + 2) == 0)
            return options;
    return NULL;
}

static bool read_number(const char *word, long *number)
{
    char *end;

    *number = word ? strtol(word, &end, 10) : 0;
    return word && *word && !*end;
}

bool options_read(const struct option *options, char *const *words)
{
    for (; *words; words++) {
        const struct option *option = find(options, *words);

        if (!option)
            return false;
        if (option->flag)
            *option->flag = true;
        else if (!read_number(*++words, option->number))
            return false;
    }
    return true;
}
