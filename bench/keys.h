/* SPDX-License-Identifier: BSD-3-Clause */
/* NAME,KEY=VALUE,... : a kernel on the command line of a benchmark. */
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

/* What a program's command line may say. */
struct spec_form {
    const char *program; /* for messages */
    /* Rows of so many bytes, each beginning with the kernel's name, a pointer
     * to characters; ends with a name NULL. */
    const void *kernels;
    size_t row_bytes;
    const struct key *keys;
    /* Further keys, as key_set() does; NULL: there are none. */
    bool (*set_other)(void *options, const char *name, const char *value);
};

/* Set what the text says; returns the kernel's row. Exits with status 2 and a
 * message if it makes no sense. */
const void *spec_read(const struct spec_form *form, const char *text,
                      void *options);

/* Say that this part of the text makes no sense, and exit. */
_Noreturn void spec_refuse(const struct spec_form *form, const char *text,
                           const char *word);

#endif
