/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules as text: the form that travels, and words for people. */
#include "objrule.h"

#include "common/base/escape.h"
#include "common/base/hash.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char origin_key[] = "from";

/* Neither comma nor colon: rules stand in requests, and have colons. */
static const char marks[] = "._@+/-";

static void put_item(struct asp_strbuf *out, const char *key, const char *value)
{
    if (!value[0])
        return;
    asp_strbuf_add(out, "%s%s:", out->len ? ";" : "", key);
    asp_escape(out, value, marks);
}

static const char *print_range(struct asp_objrange range, char buf[24])
{
    if (range.first == 0)
        buf[0] = '\0';
    else if (range.first == range.last)
        snprintf(buf, 24, "%" PRIu32, range.first);
    else if (range.last == UINT32_MAX)
        snprintf(buf, 24, "%" PRIu32 "-", range.first);
    else
        snprintf(buf, 24, "%" PRIu32 "-%" PRIu32, range.first, range.last);
    return buf;
}

int asp_objrule_print(const struct asp_objrule *rule, char *buf, size_t size)
{
    const struct asp_objkind *kind = asp_objkind(rule->kind);
    struct asp_strbuf out = asp_strbuf_on(buf, size);
    char range[24];

    put_item(&out, "name", rule->name);
    put_item(&out, "order", print_range(rule->order, range));
    put_item(&out, "size", print_range(rule->size, range));
    put_item(&out, "site", rule->site);
    for (size_t k = 0; k < kind->nkeys; k++)
        put_item(&out, kind->keys[k].name, rule->value[k]);
    put_item(&out, origin_key, rule->origin);
    return asp_strbuf_end(&out);
}

/* Undo the escapes of one value. Returns -1 where they are wrong, or it is too
 * long. */
static int unescape(const char *text, size_t len, char *out, size_t size)
{
    const char *end = text + len;
    size_t used = 0;

    while (text < end)
        if (used + 1 >= size || asp_unescape(&text, end, marks, &out[used++]))
            return -1;
    out[used] = '\0';
    return 0;
}

static int parse_item(struct asp_objrule *rule, const char *item, size_t len,
                      struct asp_err *err)
{
    const char *colon = memchr(item, ':', len);
    char key[ASP_OBJNAME_MAX], value[ASP_OBJSITE_MAX];

    if (!colon ||
        unescape(item, (size_t) (colon - item), key, sizeof(key)) < 0 ||
        unescape(colon + 1, len - (size_t) (colon - item) - 1, value,
                 sizeof(value)) < 0)
        return asp_errf(err, EINVAL, "\"%.*s\" is no KEY:VALUE of a %s rule",
                        len < 40 ? (int) len : 40, item,
                        asp_objkind(rule->kind)->word);
    if (strcmp(key, origin_key) != 0)
        return asp_objrule_set(rule, key, value, err);
    if (rule->origin[0] || strlen(value) >= sizeof(rule->origin))
        return asp_errf(err, EINVAL, "from: is set twice or too long");
    memcpy(rule->origin, value, strlen(value) + 1);
    return 0;
}

int asp_objrule_parse(enum asp_objkind_id kind, const char *text, size_t len,
                      struct asp_objrule *rule_p, struct asp_err *err)
{
    struct asp_objrule rule = {.kind = kind};

    if (len >= ASP_OBJRULE_TEXT_MAX)
        return asp_errf(err, EINVAL, "a %s rule of %zu bytes: too long",
                        asp_objkind(kind)->word, len);
    for (size_t at = 0, end; at <= len; at = end + 1) {
        const char *stop = at < len ? memchr(text + at, ';', len - at) : NULL;

        end = stop ? (size_t) (stop - text) : len;
        if (parse_item(&rule, text + at, end - at, err) < 0)
            return -1;
    }
    if (asp_objrule_check(&rule, err) < 0)
        return -1;
    *rule_p = rule;
    return 0;
}

uint64_t asp_objrules_digest(const struct asp_objrules *rules)
{
    uint64_t hash = ASP_HASH_START;
    char text[ASP_OBJRULE_TEXT_MAX];

    for (uint32_t r = 0; r < rules->n; r++) {
        int len = asp_objrule_print(&rules->rule[r], text, sizeof(text));

        hash = asp_hash(hash, text, (size_t) len + 1);
    }
    return hash;
}

static void put_word(struct asp_strbuf *out, const char *key,
                     const char *between, const char *value)
{
    if (value[0])
        asp_strbuf_add(out, "%s%s%s%s", out->len ? ", " : "", key, between,
                       value);
}

const char *asp_objrule_matchers(const struct asp_objrule *rule, char *buf,
                                 size_t size)
{
    struct asp_strbuf out = asp_strbuf_on(buf, size);
    char range[24];

    put_word(&out, "name", " ", rule->name);
    put_word(&out, "order", " ", print_range(rule->order, range));
    put_word(&out, "size", " ", print_range(rule->size, range));
    put_word(&out, "site", " ", rule->site);
    if (out.len == 0)
        asp_strbuf_add(&out, "every %s", asp_objkind(rule->kind)->word);
    return buf;
}

const char *asp_objrule_values(const struct asp_objrule *rule, char *buf,
                               size_t size)
{
    const struct asp_objkind *kind = asp_objkind(rule->kind);
    struct asp_strbuf out = asp_strbuf_on(buf, size);

    for (size_t k = 0; k < kind->nkeys; k++)
        put_word(&out, kind->keys[k].name, "=", rule->value[k]);
    return buf;
}
