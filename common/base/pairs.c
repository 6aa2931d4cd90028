/* SPDX-License-Identifier: BSD-3-Clause */
/* Parameters in texts, by a table of their keys; see pairs.h. */
#include "common/base/pairs.h"

#include "common/base/words.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

static void set(void *field, size_t size, uint64_t number)
{
    switch (size) {
    case sizeof(uint8_t):
        *(uint8_t *) field = (uint8_t) number;
        break;
    case sizeof(uint16_t):
        *(uint16_t *) field = (uint16_t) number;
        break;
    case sizeof(uint32_t):
        *(uint32_t *) field = (uint32_t) number;
        break;
    default:
        *(uint64_t *) field = number;
    }
}

static uint64_t get(const void *field, size_t size)
{
    switch (size) {
    case sizeof(uint8_t):
        return *(const uint8_t *) field;
    case sizeof(uint16_t):
        return *(const uint16_t *) field;
    case sizeof(uint32_t):
        return *(const uint32_t *) field;
    default:
        return *(const uint64_t *) field;
    }
}

/* ---- reading ---------------------------------------------------------------- */

/* Digits at *text_p, up to end; moves behind them. */
static bool take_number(const char **text_p, const char *end,
                        const struct asp_pair *pair, uint64_t *number_p)
{
    const char *text = *text_p;
    uint64_t number = 0;

    for (; text < end && *text >= '0' && *text <= '9'; text++) {
        uint64_t digit = (uint64_t) (*text - '0');

        if (digit > pair->most || number > (pair->most - digit) / 10)
            return false;
        number = 10 * number + digit;
    }
    if (text == *text_p || number < pair->least)
        return false;
    *text_p = text;
    *number_p = number;
    return true;
}

static bool read_sides(const struct asp_pair *pair, const char *text,
                       const char *end, char *field)
{
    uint64_t side;

    for (uint32_t i = 0; i < pair->sides; i++, text++) {
        if (!take_number(&text, end, pair, &side))
            return false;
        set(field + i * pair->size, pair->size, side);
        if (text == end)
            return true;
        if (*text != 'x')
            return false;
    }
    return false;
}

static bool read_word(const struct asp_pair *pair, const char *text,
                      const char *end, char *field)
{
    for (size_t i = 0; i < pair->nwords; i++)
        if (pair->words[i] &&
            asp_is_word(text, (size_t) (end - text), pair->words[i])) {
            set(field, pair->size, i);
            return true;
        }
    return false;
}

static bool read_value(const struct asp_pair *pair, const char *text,
                       const char *end, char *field)
{
    uint64_t number;

    if (pair->sides)
        return read_sides(pair, text, end, field);
    if (pair->words)
        return read_word(pair, text, end, field);
    if (!take_number(&text, end, pair, &number) || text != end)
        return false;
    set(field, pair->size, number);
    return true;
}

/* The row of a key of len bytes; n: none. */
static size_t find_row(const struct asp_pair *pairs, size_t n, const char *key,
                       size_t len)
{
    size_t i = 0;

    while (i < n && !asp_is_word(key, len, pairs[i].key))
        i++;
    return i;
}

int asp_pairs_read(const struct asp_pair *pairs, size_t n, const char *text,
                   void *object, uint32_t *given_p, struct asp_err *err)
{
    *given_p = 0;
    for (const char *at = text, *end = at; *text; at = end + 1) {
        size_t key, i;

        end = at + strcspn(at, ",");
        key = strcspn(at, "=,");
        i = find_row(pairs, n, at, key);
        if (i == n || at[key] != '=' || *given_p >> i & 1 ||
            !read_value(&pairs[i], at + key + 1, end,
                        (char *) object + pairs[i].at))
            return asp_errf(err, EINVAL,
                            "\"%.*s\" is no parameter of a configuration",
                            (int) (end - at < 80 ? end - at : 80), at);
        *given_p |= UINT32_C(1) << i;
        if (!*end)
            break;
    }
    return 0;
}

/* ---- writing ---------------------------------------------------------------- */

static void write_value(const struct asp_pair *pair, const char *field,
                        struct asp_strbuf *sb)
{
    uint64_t value = get(field, pair->size);

    if (pair->words) {
        asp_strbuf_add(sb, "%s", pair->words[value]);
        return;
    }
    asp_strbuf_add(sb, "%" PRIu64, value);
    for (uint32_t i = 1; i < pair->sides; i++) {
        value = get(field + i * pair->size, pair->size);
        if (value)
            asp_strbuf_add(sb, "x%" PRIu64, value);
    }
}

void asp_pairs_write(const struct asp_pair *pairs, size_t n, const void *object,
                     uint32_t which, struct asp_strbuf *sb)
{
    for (size_t i = 0; i < n; i++) {
        if (!(which >> i & 1))
            continue;
        asp_strbuf_add(
            sb, "%s%s=", sb->len && sb->text[sb->len - 1] == ':' ? "" : ",",
            pairs[i].key);
        write_value(&pairs[i], (const char *) object + pairs[i].at, sb);
    }
}
