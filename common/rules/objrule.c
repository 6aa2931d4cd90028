/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules for single objects: the tables of keys at work, and what is checked of
 * rules of every kind. Their text form is in text.c. */
#include "objrule.h"

#include "common/base/printable.h"
#include "common/base/strbuf.h"
#include "common/base/words.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct asp_objkind *asp_objkind(enum asp_objkind_id id)
{
    static const struct asp_objkind *const kinds[ASP_OBJ_KINDS] = {
        [ASP_OBJ_WINDOW] = &asp_window_kind,
        [ASP_OBJ_COMM] = &asp_comm_kind,
    };

    return kinds[id];
}

enum asp_objkind_id asp_objkind_find(const char *word)
{
    enum asp_objkind_id id = 0;

    while (id < ASP_OBJ_KINDS && strcmp(asp_objkind(id)->word, word) != 0)
        id++;
    return id;
}

size_t asp_objkey_find(const struct asp_objkind *kind, const char *name)
{
    size_t k = 0;

    while (k < kind->nkeys && strcmp(kind->keys[k].name, name) != 0 &&
           (kind->keys[k].alias[0] == '\0' ||
            strcmp(kind->keys[k].alias, name) != 0))
        k++;
    return k;
}

bool asp_objmatcher_known(const struct asp_objkind *kind, const char *name)
{
    for (size_t m = 0; m < kind->nmatchers; m++)
        if (strcmp(kind->matchers[m].name, name) == 0)
            return true;
    return false;
}

static int refuse(const struct asp_objkey *key, const char *value,
                  struct asp_err *err)
{
    return asp_errf(err, EINVAL, "%s: \"%.64s\" is none of %s%s", key->name,
                    value, key->values,
                    key->type == ASP_OBJ_LIST ? ", with commas between" : "");
}

/* Words by commas or blanks, in the order of the schema. "none" stands
 * alone. */
static int check_list(const struct asp_objkey *key, const char *value,
                      char out[ASP_OBJVALUE_MAX], struct asp_err *err)
{
    char wanted[16] = "", text[ASP_OBJVALUE_MAX] = "";
    struct asp_strbuf list = ASP_STRBUF(text);
    size_t words = 0, n = 0;

    for (const char *at = value; *at; at += strspn(at, ", ")) {
        size_t len = strcspn(at, ", "), index = 0;

        if (!asp_is_among(at, len, key->values))
            return refuse(key, value, err);
        for (const char *w = key->values;
             strncmp(w, at, len) != 0 || (w[len] != '|' && w[len] != '\0');
             w += strcspn(w, "|") + 1)
            index++;
        wanted[index] = 1;
        at += len;
    }
    for (const char *w = key->values; *w; n++) {
        size_t len = strcspn(w, "|");

        if (wanted[n])
            asp_strbuf_add(&list, "%s%.*s", words++ ? "," : "", (int) len, w);
        w += len + (w[len] == '|');
    }
    if (words == 0 || (words > 1 && strncmp(text, "none", 4) == 0))
        return refuse(key, value, err);
    memcpy(out, text, sizeof(text));
    return 0;
}

static int check_value(const struct asp_objkey *key, const char *value,
                       char out[ASP_OBJVALUE_MAX], struct asp_err *err)
{
    static const char yes[] = "true|yes|on|1", no[] = "false|no|off|0";
    size_t len = strlen(value);

    switch (key->type) {
    case ASP_OBJ_WORD:
        if (!asp_is_among(value, len, key->values))
            return refuse(key, value, err);
        snprintf(out, ASP_OBJVALUE_MAX, "%s", value);
        return 0;
    case ASP_OBJ_BOOL:
        if (!asp_is_among(value, len, yes) && !asp_is_among(value, len, no))
            return refuse(key, value, err);
        strcpy(out, asp_is_among(value, len, yes) ? "true" : "false");
        return 0;
    case ASP_OBJ_LIST:
        return check_list(key, value, out, err);
    }
    return asp_errf(err, EINVAL, "%s: no such type", key->name);
}

/* A number from 1. Moves *at_p past it. */
static int read_number(const char **at_p, uint32_t *out_p)
{
    uint64_t n = 0;
    const char *at = *at_p;

    for (; *at >= '0' && *at <= '9' && n <= UINT32_MAX; at++)
        n = n * 10 + (uint64_t) (*at - '0');
    if (at == *at_p || n == 0 || n >= UINT32_MAX)
        return -1;
    *at_p = at;
    *out_p = (uint32_t) n;
    return 0;
}

static int set_range(const char *key, const char *value,
                     struct asp_objrange *out_p, struct asp_err *err)
{
    const char *at = value;
    uint32_t first = 0, last = 0;
    int rc = read_number(&at, &first);

    last = first;
    if (rc == 0 && *at == '-') {
        at++;
        last = UINT32_MAX;
        if (*at)
            rc = read_number(&at, &last);
    }
    if (rc < 0 || *at || last < first)
        return asp_errf(err, EINVAL,
                        "%s: \"%.32s\" is no such number; give 3, 1-4 or 5- "
                        "(from 1)",
                        key, value);
    *out_p = (struct asp_objrange){first, last};
    return 0;
}

/* Any text but control characters. */
static int set_pattern(const char *key, const char *value, char *out,
                       size_t size, struct asp_err *err)
{
    if (!value[0] || strlen(value) >= size)
        return asp_errf(err, EINVAL, "%s: give a pattern of 1 to %zu bytes",
                        key, size - 1);
    for (const char *c = value; *c; c++)
        if (asp_control(c))
            return asp_errf(err, EINVAL, "%s: control character in it", key);
    memcpy(out, value, strlen(value) + 1);
    return 0;
}

static int twice(const char *key, struct asp_err *err)
{
    return asp_errf(err, EINVAL, "%.32s is set twice", key);
}

static int set_matcher(struct asp_objrule *rule, const char *key,
                       const char *value, struct asp_err *err)
{
    bool name = strcmp(key, "name") == 0;
    char *pattern = name ? rule->name : rule->site;
    struct asp_objrange *range = strcmp(key, "order") == 0 ? &rule->order
                                                           : &rule->size;

    if (strcmp(key, "order") == 0 || strcmp(key, "size") == 0)
        return range->first ? twice(key, err)
                            : set_range(key, value, range, err);
    return pattern[0]
               ? twice(key, err)
               : set_pattern(key, value, pattern,
                             name ? sizeof(rule->name) : sizeof(rule->site),
                             err);
}

int asp_objrule_set(struct asp_objrule *rule, const char *key,
                    const char *value, struct asp_err *err)
{
    const struct asp_objkind *kind = asp_objkind(rule->kind);
    size_t k = asp_objkey_find(kind, key);

    if (asp_objmatcher_known(kind, key))
        return set_matcher(rule, key, value, err);
    if (k == kind->nkeys)
        return asp_errf(err, EINVAL, "unknown key \"%.64s\" of a %s", key,
                        kind->word);
    if (rule->value[k][0])
        return twice(kind->keys[k].name, err);
    return check_value(&kind->keys[k], value, rule->value[k], err);
}

int asp_objrule_check(const struct asp_objrule *rule, struct asp_err *err)
{
    const struct asp_objkind *kind = asp_objkind(rule->kind);
    size_t set = 0;

    for (size_t k = 0; k < kind->nkeys; k++)
        set += rule->value[k][0] != '\0';
    if (set == 0)
        return asp_errf(err, EINVAL, "a rule for %s sets nothing",
                        kind->section);
    return kind->check(rule, err);
}
