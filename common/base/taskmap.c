/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts per node and the dealing of ids; see taskmap.h. slurmstepd calls it on
 * what the user can write: numbers are bounded before use, and so is the cost.
 */
#include "taskmap.h"

#include "strbuf.h"
#include "words.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

int asp_counts_next(const char **text_p, uint32_t least, uint32_t most,
                    uint32_t *count_p, uint32_t *times_p)
{
    const char *text = *text_p;

    *times_p = 1;
    if (asp_take_number(&text, most, count_p) < 0 || *count_p < least)
        goto bad;
    if (strncmp(text, "(x", 2) == 0) {
        text += 2;
        if (asp_take_number(&text, ASP_NODES_MAX, times_p) < 0 ||
            *times_p == 0 || *text++ != ')')
            goto bad;
    }
    if (*text == ',' && text[1] != '\0')
        text++;
    else if (*text != '\0')
        goto bad;
    *text_p = text;
    return 0;
bad:
    errno = EINVAL;
    return -1;
}

int asp_counts_parse(const char *text, uint32_t least, uint32_t most,
                     uint32_t *counts, uint32_t max)
{
    uint32_t n = 0, count, times;

    do {
        if (asp_counts_next(&text, least, most, &count, &times) < 0)
            return -1;
        if (times > max - n) {
            errno = ENOSPC;
            return -1;
        }
        while (times--)
            counts[n++] = count;
    } while (*text);
    return (int) n;
}

int asp_counts_less(const char *text, uint32_t less, char *buf, size_t size)
{
    struct asp_strbuf out = asp_strbuf_on(buf, size);
    uint32_t count, times;

    do {
        if (asp_counts_next(&text, less + 1, ASP_RANKS_MAX, &count, &times) < 0)
            return -1;
        asp_strbuf_add(&out, "%s%" PRIu32, out.len ? "," : "", count - less);
        if (times > 1)
            asp_strbuf_add(&out, "(x%" PRIu32 ")", times);
    } while (*text);
    return asp_strbuf_end(&out);
}

uint32_t asp_taskmap_turn(const char *distribution, uint32_t plane_size,
                          struct asp_err *err)
{
    const char *text = distribution ? distribution : "", *size;
    size_t len = strcspn(text, ":,=");

    if (len == 0 || asp_is_word(text, len, "block") || *text == '*')
        return ASP_TURN_BLOCK;
    if (asp_is_word(text, len, "cyclic"))
        return 1;
    if (asp_is_word(text, len, "plane")) {
        size = text + len;
        if (plane_size == 0 &&
            (*size++ != '=' ||
             asp_take_number(&size, ASP_RANKS_MAX, &plane_size) < 0 ||
             plane_size == 0))
            asp_errf(err, EINVAL, "distribution \"%.40s\" lacks a size", text);
        return plane_size;
    }
    if (strncmp(text, "arbitrary", 9) == 0)
        asp_errf(err, ENOTSUP,
                 "distribution arbitrary: the ranks of other nodes cannot be "
                 "computed");
    else
        asp_errf(err, EINVAL, "unknown distribution \"%.40s\"", text);
    return 0;
}

void asp_taskmap_turns(const char *distribution, uint32_t plane_size,
                       uint32_t turns[ASP_TURNS], struct asp_err *err)
{
    const uint32_t others[] = {ASP_TURN_BLOCK, 1, plane_size};

    memset(turns, 0, ASP_TURNS * sizeof(*turns));
    turns[0] = asp_taskmap_turn(distribution, plane_size, err);
    /* Told that it is arbitrary, a pattern that fits one node by chance would
     * be wrong about the others. */
    if (turns[0] == 0 && errno == ENOTSUP)
        return;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (others[i] != turns[0])
            turns[i + 1] = others[i];
}

/* Give one node its ids of a turn, from *next_p. Returns whether to go on. */
static bool deal_turn(struct asp_deal *deal, uint32_t node, uint32_t turn,
                      uint32_t *dealt, uint32_t *next_p)
{
    uint32_t left = deal->counts[node] - *dealt;

    deal->looks++;
    for (uint32_t i = 0; i < turn && i < left; i++) {
        deal->looks++;
        if (!deal->give(deal->context, node, (*dealt)++, (*next_p)++))
            return false;
    }
    return true;
}

/* Nodes that have all of theirs are not looked at again. */
int asp_taskmap_deal(struct asp_deal *deal, uint32_t turn)
{
    uint32_t nopen = deal->nnodes, next = 0;
    uint32_t *dealt = calloc(nopen, sizeof(*dealt)); /* by node */
    uint32_t *open = calloc(nopen, sizeof(*open));   /* nodes, in order */
    bool on = dealt != NULL && open != NULL;
    int rc = on ? 0 : -1;

    for (uint32_t node = 0; on && node < nopen; node++)
        open[node] = node;
    while (on && nopen > 0) {
        uint32_t still = 0;

        for (uint32_t i = 0; on && i < nopen; i++) {
            uint32_t node = open[i];

            on = deal_turn(deal, node, turn, &dealt[node], &next);
            if (dealt[node] < deal->counts[node])
                open[still++] = node;
        }
        nopen = still;
    }
    free(dealt);
    free(open);
    if (rc < 0)
        errno = ENOMEM;
    return rc;
}
