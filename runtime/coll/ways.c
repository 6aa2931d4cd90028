/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints and reads the text of a way. It is split at the plus and at commas;
 * each key of the shared part has its list of words, and schedules and MPICH's
 * algorithms read their own. */
#include "config.h"

#include "ways.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool aspx_coll_shared_has(enum asp_coll_op op)
{
    switch (op) {
    case ASP_COLL_SCATTER:
    case ASP_COLL_GATHER:
    case ASP_COLL_ALLGATHERV:
        return true;
    default:
        return aspx_coll_levels_has(op);
    }
}

bool aspx_coll_levels_has(enum asp_coll_op op)
{
    switch (op) {
    case ASP_COLL_BARRIER:
    case ASP_COLL_BCAST:
    case ASP_COLL_REDUCE:
    case ASP_COLL_ALLREDUCE:
    case ASP_COLL_ALLGATHER:
        return true;
    default:
        return false;
    }
}

/* ---- words of the shared part ----------------------------------------------- */

static const char *const signals[] = {"pull", "push"};
static const char *const waiters[] = {"spin", "yield", "sleep"};
static const char *const foldings[] = {"tree", "shares", "each"};

static bool has_signals(enum asp_coll_op op)
{
    return op == ASP_COLL_BARRIER;
}

static bool has_folding(enum asp_coll_op op)
{
    return op == ASP_COLL_REDUCE || op == ASP_COLL_ALLREDUCE;
}

static void print_shared(const struct aspx_coll_way *way, char *buf,
                         size_t size)
{
    const struct aspx_node_way *shared = &way->shared;
    int n = snprintf(buf, size, "%s:shared,k=%u", asp_coll_op_name(way->op),
                     shared->radix);

    if (has_signals(way->op))
        n += snprintf(buf + n, size - (size_t) n, ",up=%s,down=%s",
                      signals[shared->up], signals[shared->down]);
    else
        n += snprintf(buf + n, size - (size_t) n, ",segment=%u",
                      shared->segment);
    if (has_folding(way->op))
        n += snprintf(buf + n, size - (size_t) n, ",fold=%s",
                      foldings[shared->folding]);
    snprintf(buf + n, size - (size_t) n, ",wait=%s", waiters[shared->waiter]);
}

const char *aspx_coll_way_text(const struct aspx_coll_way *way, char *buf)
{
    switch (way->kind) {
    case ASPX_COLL_DEFAULT:
        strcpy(buf, "default");
        break;
    case ASPX_COLL_MESSAGES:
        asp_coll_way_text(&way->messages, buf);
        break;
    case ASPX_COLL_SHARED:
        print_shared(way, buf, ASPX_COLL_WAY_TEXT);
        break;
    case ASPX_COLL_LEVELS:
        print_shared(way, buf, ASPX_COLL_WAY_TEXT - ASP_COLL_WAY_TEXT);
        strcat(buf, "+");
        asp_coll_way_text(&way->messages, buf + strlen(buf));
        break;
    case ASPX_COLL_NATIVE:
        aspx_native_text(&way->native, buf);
        break;
    }
    return buf;
}

/* ---- reading ---------------------------------------------------------------- */

static int bad(struct asp_err *err, const char *text)
{
    return asp_errf(err, EINVAL, "no way to carry out a collective: \"%.100s\"",
                    text);
}

static bool find_word(const char *word, const char *const *words, size_t n,
                      uint8_t *index_p)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(word, words[i]) == 0) {
            *index_p = (uint8_t) i;
            return true;
        }
    return false;
}

#define FIND(value, words, member)                                             \
    find_word(value, words, sizeof(words) / sizeof((words)[0]), &(member))

static bool find_number(const char *text, uint32_t *number_p)
{
    char *end;
    unsigned long number = strtoul(text, &end, 10);

    if (*text < '0' || *text > '9' || *end || number > UINT32_MAX)
        return false;
    *number_p = (uint32_t) number;
    return true;
}

static bool take_pair(const char *key, const char *value,
                      struct aspx_node_way *shared)
{
    if (strcmp(key, "k") == 0)
        return find_number(value, &shared->radix);
    if (strcmp(key, "segment") == 0)
        return find_number(value, &shared->segment);
    if (strcmp(key, "up") == 0)
        return FIND(value, signals, shared->up);
    if (strcmp(key, "down") == 0)
        return FIND(value, signals, shared->down);
    if (strcmp(key, "wait") == 0)
        return FIND(value, waiters, shared->waiter);
    return strcmp(key, "fold") == 0 && FIND(value, foldings, shared->folding);
}

/* Behind "OP:shared", up to the plus or the end. Changes the text. */
static bool take_pairs(char *pairs, struct aspx_node_way *shared)
{
    char *rest = pairs;

    for (char *pair = strtok_r(pairs, ",", &rest); pair;
         pair = strtok_r(NULL, ",", &rest)) {
        char *value = strchr(pair, '=');

        if (!value)
            return false;
        *value++ = '\0';
        if (!take_pair(pair, value, shared))
            return false;
    }
    return aspx_node_way_is_valid(shared);
}

static int parse_messages(enum asp_coll_op op, const char *text,
                          struct aspx_coll_way *way, struct asp_err *err)
{
    if (asp_coll_way_parse(text, &way->messages, err) != 0)
        return -1;
    return way->messages.row->op == op ? 0 : bad(err, text);
}

static int parse_shared(const char *whole, char *pairs,
                        struct aspx_coll_way *way, struct asp_err *err)
{
    char *plus = strchr(pairs, '+');

    way->kind = plus ? ASPX_COLL_LEVELS : ASPX_COLL_SHARED;
    way->shared = (struct aspx_node_way){.radix = 4,
                                         .segment = ASPX_NODE_SEGMENT_MIN};
    if (plus)
        *plus++ = '\0';
    if (!(plus ? aspx_coll_levels_has(way->op)
               : aspx_coll_shared_has(way->op)) ||
        !take_pairs(pairs, &way->shared))
        return bad(err, whole);
    return plus ? parse_messages(way->op, plus, way, err) : 0;
}

static int parse_native(const char *text, struct aspx_coll_way *way,
                        struct asp_err *err)
{
    way->kind = ASPX_COLL_NATIVE;
    return aspx_native_parse(way->op, text, &way->native, err);
}

int aspx_coll_way_parse(enum asp_coll_op op, const char *text,
                        struct aspx_coll_way *way_p, struct asp_err *err)
{
    struct aspx_coll_way way = {.kind = ASPX_COLL_MESSAGES, .op = op};
    char copy[ASPX_COLL_WAY_TEXT], head[64];
    size_t n;
    int rc;

    if (strlen(text) >= sizeof(copy))
        return bad(err, text);
    strcpy(copy, text);
    n = (size_t) snprintf(head, sizeof(head), "%s:shared",
                          asp_coll_op_name(op));
    if (strcmp(text, "default") == 0) {
        way.kind = ASPX_COLL_DEFAULT;
        rc = 0;
    } else if (strncmp(text, head, n) == 0 && (!text[n] || text[n] == ',')) {
        rc = parse_shared(text, copy + n, &way, err);
    } else if (strstr(text, ":mpich=")) {
        rc = parse_native(text, &way, err);
    } else {
        rc = parse_messages(op, text, &way, err);
    }
    if (rc == 0)
        *way_p = way;
    return rc;
}

int aspx_coll_way_check(enum asp_coll_op op, const char *text,
                        struct asp_err *err)
{
    struct aspx_coll_way way;

    return aspx_coll_way_parse(op, text, &way, err);
}

bool aspx_coll_way_is_of(const struct aspx_coll_way *way, const char *family)
{
    switch (way->kind) {
    case ASPX_COLL_MESSAGES:
        return strcmp(way->messages.row->name, family) == 0;
    case ASPX_COLL_SHARED:
    case ASPX_COLL_LEVELS:
        return strcmp(family, "shared") == 0;
    case ASPX_COLL_NATIVE:
        return strcmp(family, "mpich") == 0 ||
               (strncmp(family, "mpich-", 6) == 0 &&
                aspx_native_is_named(&way->native, family + 6));
    default:
        return strcmp(family, "default") == 0;
    }
}
