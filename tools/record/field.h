/* SPDX-License-Identifier: BSD-3-Clause */
/* Checked reading of JSON objects into structs, by tables of their members. */
#ifndef ASPEN_TOOLS_RECORD_FIELD_H
#define ASPEN_TOOLS_RECORD_FIELD_H

#include "common/base/err.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum aspt_kind {
    ASPT_TEXT,    /* const char * */
    ASPT_COUNT,   /* uint64_t */
    ASPT_NUMBER,  /* int64_t, -1 or more */
    ASPT_SECONDS, /* double, 0 or more */
    ASPT_BOOL,    /* bool */
    ASPT_LIST,    /* const json_t *, an array */
};

struct aspt_field {
    const char *key;
    enum aspt_kind kind;
    size_t at;     /* offset of the member */
    bool optional; /* then the member stays as it is */
};

#define ASPT_FIELD(type, member, kind)                                         \
    {                                                                          \
#member, kind, offsetof(struct type, member), false                    \
    }

/* Where in which file; for messages. */
struct aspt_json_place {
    const char *file;
    const char *list; /* "windows", or "" at the top */
    size_t index;     /* in that list */
};

/* Refuse a value: "FILE: windows[3].order: text". Returns -1. */
int aspt_field_refuse(const struct aspt_json_place *place, const char *key,
                      struct asp_err *err, const char *text);

/* Read the n fields of an object. Returns 0, or -1 with err. */
int aspt_fields_read(const json_t *object, const struct aspt_json_place *place,
                     const struct aspt_field *fields, size_t n, void *out,
                     struct asp_err *err);

/* A list of objects of the same members. */
struct aspt_items {
    const char *key;
    const struct aspt_field *fields;
    size_t nfields;
    size_t size; /* bytes of one */
};

/* Read the member items->key of an object; a list that is missing is refused.
 *   *array_p  owned by the caller, free(); with *n_p of them; untouched on
 *             failure
 * Returns 0, or -1 with err. */
int aspt_items_read(const json_t *object, const char *file,
                    const struct aspt_items *items, void **array_p, size_t *n_p,
                    struct asp_err *err);

#endif
