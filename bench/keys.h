/* SPDX-License-Identifier: BSD-3-Clause */
/* KEY=VALUE of a kernel on the command line of a benchmark. */
#ifndef ASPEN_BENCH_KEYS_H
#define ASPEN_BENCH_KEYS_H

#include <stdbool.h>
#include <stddef.h>

/* A number, or a word among "a|b|c", whose place is the value; it goes to an
 * int at this offset of the options. A table ends with a name NULL. */
struct key {
    const char *name, *words;
    size_t offset;
};

/* Returns false if no key is called `name` or its value makes no sense. */
bool key_set(const struct key *keys, void *options, const char *name,
             const char *value);

#endif
