/* SPDX-License-Identifier: BSD-3-Clause */
/* Counting the names in Slurm's node lists. */
#include "expand.h"

#include "common/base/words.h"

#include <errno.h>

/* "[1-3,7]": how many numbers. Returns 0 on bad text. */
static uint32_t take_brackets(const char **text_p)
{
    const char *text = *text_p + 1;
    uint64_t count = 0;

    for (;;) {
        uint32_t first, last;

        if (asp_take_range(&text, UINT32_MAX, &first, &last) < 0)
            return 0;
        count += (uint64_t) last - first + 1;
        if (count > ASP_NODES_MAX)
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
            if (names == 0 || names > ASP_NODES_MAX)
                goto bad;
        }
        if (text == start)
            goto bad;
        total += names;
        if (total > ASP_NODES_MAX)
            goto bad;
    } while (*text++ == ',');
    return (uint32_t) total;
bad:
    errno = EINVAL;
    return 0;
}
