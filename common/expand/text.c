/* SPDX-License-Identifier: BSD-3-Clause */
/* Slurm's text forms of node lists and of numbers per node, as far as counting
 * needs them. */
#include "expand.h"

#include <errno.h>
#include <string.h>

/* Decimal digits; moves *text_p past them. Returns -1 when there are none or
 * the number is larger than max. */
static int take_number(const char **text_p, uint32_t max, uint32_t *out_p)
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

/* "[1-3,7]": how many numbers. Returns 0 on bad text. */
static uint32_t take_brackets(const char **text_p)
{
    const char *text = *text_p + 1;
    uint64_t count = 0;

    for (;;) {
        uint32_t first, last;

        if (take_number(&text, UINT32_MAX, &first) < 0)
            return 0;
        last = first;
        if (*text == '-') {
            text++;
            if (take_number(&text, UINT32_MAX, &last) < 0 || last < first)
                return 0;
        }
        count += (uint64_t) last - first + 1;
        if (count > ASP_EXPAND_NODES_MAX)
            return 0;
        if (*text == ']')
            break;
        if (*text++ != ',')
            return 0;
    }
    *text_p = text + 1;
    return (uint32_t) count;
}

uint32_t asp_expand_nodelist_count(const char *text)
{
    uint64_t total = 0;

    do {
        uint64_t names = 1;
        const char *start = text;

        while (*text && *text != ',') {
            if (*text != '[') {
                text++;
                continue;
            }
            names *= take_brackets(&text);
            if (names == 0 || names > ASP_EXPAND_NODES_MAX)
                goto bad;
        }
        if (text == start)
            goto bad;
        total += names;
        if (total > ASP_EXPAND_NODES_MAX)
            goto bad;
    } while (*text++ == ',');
    return (uint32_t) total;
bad:
    errno = EINVAL;
    return 0;
}

uint32_t asp_expand_list_parse(const char *text, uint32_t *values, uint32_t max)
{
    uint32_t n = 0;

    for (;;) {
        uint32_t value, times = 1;

        if (take_number(&text, ASP_EXPAND_TASKS_MAX, &value) < 0)
            goto bad;
        if (strncmp(text, "(x", 2) == 0) {
            text += 2;
            if (take_number(&text, ASP_EXPAND_NODES_MAX, &times) < 0 ||
                times == 0 || *text++ != ')')
                goto bad;
        }
        if (times > max - n) {
            errno = ENOSPC;
            return 0;
        }
        while (times--)
            values[n++] = value;
        if (*text == '\0')
            return n;
        if (*text++ != ',')
            goto bad;
    }
bad:
    errno = EINVAL;
    return 0;
}
