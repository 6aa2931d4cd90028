/* SPDX-License-Identifier: BSD-3-Clause */
/* Called by read.c and parts.c. */
#include "config.h"

#include "field.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const wanted[] = {
    [ASPT_TEXT] = "a string",
    [ASPT_COUNT] = "an integer, 0 or more",
    [ASPT_NUMBER] = "an integer, -1 or more",
    [ASPT_SECONDS] = "a number of seconds, 0 or more",
    [ASPT_BOOL] = "true or false",
    [ASPT_LIST] = "a list",
};

int aspt_field_refuse(const struct aspt_json_place *place, const char *key,
                      struct asp_err *err, const char *text)
{
    if (!place->list[0])
        return asp_err_in(err, EINVAL, place->file, "%s: %s", key, text);
    return asp_err_in(err, EINVAL, place->file, "%s[%zu].%s: %s", place->list,
                      place->index, key, text);
}

/* Returns whether the value is of that kind; then it is in *to. */
static bool take(const json_t *value, enum aspt_kind kind, void *to)
{
    switch (kind) {
    case ASPT_TEXT:
        if (json_is_string(value))
            *(const char **) to = json_string_value(value);
        return json_is_string(value);
    case ASPT_COUNT:
        if (!json_is_integer(value) || json_integer_value(value) < 0)
            return false;
        *(uint64_t *) to = (uint64_t) json_integer_value(value);
        return true;
    case ASPT_NUMBER:
        if (!json_is_integer(value) || json_integer_value(value) < -1)
            return false;
        *(int64_t *) to = json_integer_value(value);
        return true;
    case ASPT_SECONDS:
        if (!json_is_number(value) || json_number_value(value) < 0)
            return false;
        *(double *) to = json_number_value(value);
        return true;
    case ASPT_BOOL:
        if (json_is_boolean(value))
            *(bool *) to = json_is_true(value);
        return json_is_boolean(value);
    case ASPT_LIST:
        if (json_is_array(value))
            *(const json_t **) to = value;
        return json_is_array(value);
    }
    return false;
}

int aspt_fields_read(const json_t *object, const struct aspt_json_place *place,
                     const struct aspt_field *fields, size_t n, void *out,
                     struct asp_err *err)
{
    char text[128];

    for (size_t i = 0; i < n; i++) {
        const struct aspt_field *field = &fields[i];
        const json_t *value = json_object_get(object, field->key);

        if (!value && field->optional)
            continue;
        if (!value)
            return aspt_field_refuse(place, field->key, err, "is missing");
        if (take(value, field->kind, (char *) out + field->at))
            continue;
        snprintf(text, sizeof(text), "is not %s", wanted[field->kind]);
        return aspt_field_refuse(place, field->key, err, text);
    }
    return 0;
}

int aspt_items_read(const json_t *object, const char *file,
                    const struct aspt_items *items, void **array_p, size_t *n_p,
                    struct asp_err *err)
{
    const json_t *list = json_object_get(object, items->key);
    struct aspt_json_place place = {file, "", 0};
    size_t n = json_array_size(list);
    char *array;

    if (!json_is_array(list))
        return aspt_field_refuse(&place, items->key, err,
                                 list ? "is not a list" : "is missing");
    array = calloc(n ? n : 1, items->size);
    if (!array)
        return asp_errf(err, ENOMEM, "out of memory");
    place.list = items->key;
    for (; place.index < n; place.index++) {
        const json_t *item = json_array_get(list, place.index);

        if (json_is_object(item) &&
            aspt_fields_read(item, &place, items->fields, items->nfields,
                             array + place.index * items->size, err) == 0)
            continue;
        if (!json_is_object(item))
            asp_err_in(err, EINVAL, file, "%s[%zu]: is not an object",
                       items->key, place.index);
        free(array);
        return -1;
    }
    *array_p = array;
    *n_p = n;
    return 0;
}
