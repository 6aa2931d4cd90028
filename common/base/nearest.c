/* SPDX-License-Identifier: BSD-3-Clause */
/* Edit distance between short words; see nearest.h. */
#include "nearest.h"

#include <string.h>

enum { WORD_MAX = 40 };

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
    unsigned least = a < b ? a : b;

    return least < c ? least : c;
}

/* Edits from a to b; WORD_MAX when one is too long to be a word of ours. */
static unsigned distance(const char *a, const char *b)
{
    size_t na = strlen(a), nb = strlen(b);
    unsigned d[WORD_MAX + 1][WORD_MAX + 1];

    if (na > WORD_MAX || nb > WORD_MAX)
        return WORD_MAX;
    for (size_t i = 0; i <= na; i++)
        d[i][0] = (unsigned) i;
    for (size_t j = 0; j <= nb; j++)
        d[0][j] = (unsigned) j;
    for (size_t i = 1; i <= na; i++) {
        for (size_t j = 1; j <= nb; j++) {
            unsigned change = a[i - 1] != b[j - 1];

            d[i][j] = min3(d[i - 1][j] + 1, d[i][j - 1] + 1,
                           d[i - 1][j - 1] + change);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
                a[i - 2] == b[j - 1] && d[i - 2][j - 2] + 1 < d[i][j])
                d[i][j] = d[i - 2][j - 2] + 1;
        }
    }
    return d[na][nb];
}

const char *asp_nearest(const char *word, const char *const candidates[],
                        size_t count)
{
    unsigned best = (unsigned) strlen(word) / 3 + 2;
    const char *found = NULL;

    for (size_t i = 0; i < count; i++) {
        unsigned edits = distance(word, candidates[i]);

        if (edits < best && edits < strlen(candidates[i])) {
            best = edits;
            found = candidates[i];
        }
    }
    return found;
}
