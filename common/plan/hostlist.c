/* SPDX-License-Identifier: BSD-3-Clause */
/* Expanding node lists, for layouts and PMIx's node map. Several brackets in a
 * name ("r[1-2]n[1-4]") count like the digits of a number: the last one runs
 * fastest. */
#include "hostlist.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { DIGITS_MAX = 9 };

/* What is being expanded. */
struct out {
    struct asp_layout_node *nodes;
    uint32_t nnodes;
    uint32_t used;
};

static int add_name(struct out *out, const char *name, size_t len)
{
    if (out->used == out->nnodes || len == 0 || len >= ASP_NAME_MAX)
        return -1;
    memcpy(out->nodes[out->used].name, name, len);
    out->nodes[out->used].name[len] = '\0';
    out->used++;
    return 0;
}

/* Digits at *text_p: value and width. Returns 0, or -1. */
static int parse_digits(const char **text_p, unsigned *value_p, int *width_p)
{
    const char *text = *text_p;
    unsigned value = 0;
    int width = 0;

    for (; *text >= '0' && *text <= '9'; text++, width++) {
        if (width == DIGITS_MAX)
            return -1;
        value = value * 10 + (unsigned) (*text - '0');
    }
    *text_p = text;
    *value_p = value;
    *width_p = width;
    return width > 0 ? 0 : -1;
}

static int expand(struct out *out, const char *prefix, const char *text,
                  const char *end);

/* "1-3,05" up to ']' at close; what follows close is expanded for each. */
static int expand_group(struct out *out, const char *prefix, const char *text,
                        const char *close, const char *end)
{
    char name[ASP_NAME_MAX];
    unsigned first;
    unsigned last;
    int width;
    int ignored;

    for (;;) {
        if (parse_digits(&text, &first, &width) < 0)
            return -1;
        last = first;
        if (*text == '-') {
            text++;
            if (parse_digits(&text, &last, &ignored) < 0 || last < first)
                return -1;
        }
        for (unsigned i = first; i <= last; i++) {
            int len = snprintf(name, sizeof(name), "%s%0*u", prefix, width, i);

            if (len >= (int) sizeof(name) ||
                expand(out, name, close + 1, end) < 0)
                return -1;
        }
        if (text == close)
            return 0;
        if (*text++ != ',')
            return -1;
    }
}

/* Expand text up to end, all names starting with prefix. */
static int expand(struct out *out, const char *prefix, const char *text,
                  const char *end)
{
    size_t len = strlen(prefix);
    const char *open = memchr(text, '[', (size_t) (end - text));
    size_t plain = (size_t) ((open != NULL ? open : end) - text);
    const char *close;
    char name[ASP_NAME_MAX];

    if (len + plain >= sizeof(name))
        return -1;
    memcpy(name, prefix, len);
    memcpy(name + len, text, plain);
    name[len + plain] = '\0';
    if (open == NULL)
        return add_name(out, name, len + plain);
    close = memchr(open, ']', (size_t) (end - open));
    if (close == NULL)
        return -1;
    return expand_group(out, name, open + 1, close, end);
}

/* End of the first name: a comma outside brackets, or the end. */
static const char *name_end(const char *text)
{
    int depth = 0;

    for (; *text != '\0' && (*text != ',' || depth > 0); text++)
        depth += (*text == '[') - (*text == ']');
    return text;
}

int asp_hostlist_name(const char *list, struct asp_layout_node *nodes,
                      uint32_t nnodes, struct asp_err *err)
{
    struct out out = {nodes, nnodes, 0};
    const char *text = list;

    for (;;) {
        const char *end = name_end(text);

        if (expand(&out, "", text, end) < 0)
            return asp_errf(err, EINVAL, "cannot read node list \"%.100s\"",
                            list);
        if (*end == '\0')
            break;
        text = end + 1;
    }
    if (out.used != nnodes)
        return asp_errf(err, EINVAL, "node list \"%.100s\" has %u of %u nodes",
                        list, (unsigned) out.used, (unsigned) nnodes);
    return 0;
}
