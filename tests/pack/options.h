/* SPDX-License-Identifier: BSD-3-Clause */
/* Options of the programs in this folder: --NAME, or --NAME NUMBER. */
#ifndef ASPEN_TESTS_PACK_OPTIONS_H
#define ASPEN_TESTS_PACK_OPTIONS_H

#include <stdbool.h>

/* One of the two; a table ends with a name NULL. */
struct option {
    const char *name;
    bool *flag;   /* becomes true */
    long *number; /* becomes the word that follows */
};

/* Returns false if a word is none of them, or not a number where it must. */
bool options_read(const struct option *options, char *const *words);

#endif
