/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules for windows as text: the form that travels, and words for people. */
#include "winrule.h"

#include "common/base/escape.h"

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

static const char *print_order(const struct asp_winrule *rule, char buf[24])
{
    if (rule->first == 0)
        buf[0] = '\0';
    else if (rule->first == rule->last)
        snprintf(buf, 24, "%" PRIu32, rule->first);
    else if (rule->last == UINT32_MAX)
        snprintf(buf, 24, "%" PRIu32 "-", rule->first);
    else
        snprintf(buf, 24, "%" PRIu32 "-%" PRIu32, rule->first, rule->last);
    return buf;
}

int asp_winrule_print(const struct asp_winrule *rule, char *buf, size_t size)
{
    struct asp_strbuf out = asp_strbuf_on(buf, size);
    char order[24];

    put_item(&out, "name", rule->name);
    put_item(&out, "order", print_order(rule, order));
    put_item(&out, "site", rule->site);
    for (enum asp_winkey_id id = 0; id < ASP_WINKEY_COUNT; id++)
        put_item(&out, asp_winkeys[id].name, rule->value[id]);
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

static int parse_item(struct asp_winrule *rule, const char *item, size_t len,
                      struct asp_err *err)
{
    const char *colon = memchr(item, ':', len);
    char key[ASP_WINNAME_MAX], value[ASP_WINSITE_MAX];

    if (!colon ||
        unescape(item, (size_t) (colon - item), key, sizeof(key)) < 0 ||
        unescape(colon + 1, len - (size_t) (colon - item) - 1, value,
                 sizeof(value)) < 0)
        return asp_errf(err, EINVAL,
                        "\"%.*s\" is no KEY:VALUE of a window "
                        "rule",
                        len < 40 ? (int) len : 40, item);
    if (strcmp(key, origin_key) != 0)
        return asp_winrule_set(rule, key, value, err);
    if (rule->origin[0] || strlen(value) >= sizeof(rule->origin))
        return asp_errf(err, EINVAL, "from: is set twice or too long");
    memcpy(rule->origin, value, strlen(value) + 1);
    return 0;
}

int asp_winrule_parse(const char *text, size_t len, struct asp_winrule *rule_p,
                      struct asp_err *err)
{
    struct asp_winrule rule = {.first = 0};

    if (len >= ASP_WINRULE_TEXT_MAX)
        return asp_errf(err, EINVAL, "a window rule of %zu bytes: too long",
                        len);
    for (size_t at = 0, end; at <= len; at = end + 1) {
        const char *stop = at < len ? memchr(text + at, ';', len - at) : NULL;

        end = stop ? (size_t) (stop - text) : len;
        if (parse_item(&rule, text + at, end - at, err) < 0)
            return -1;
    }
    if (asp_winrule_check(&rule, err) < 0)
        return -1;
    *rule_p = rule;
    return 0;
}

static void put_word(struct asp_strbuf *out, const char *key,
                     const char *between, const char *value)
{
    if (value[0])
        asp_strbuf_add(out, "%s%s%s%s", out->len ? ", " : "", key, between,
                       value);
}

const char *asp_winrule_matchers(const struct asp_winrule *rule, char *buf,
                                 size_t size)
{
    struct asp_strbuf out = asp_strbuf_on(buf, size);
    char order[24];

    put_word(&out, "name", " ", rule->name);
    put_word(&out, "order", " ", print_order(rule, order));
    put_word(&out, "site", " ", rule->site);
    if (out.len == 0)
        asp_strbuf_add(&out, "every window");
    return buf;
}

const char *asp_winrule_values(const struct asp_winrule *rule, char *buf,
                               size_t size)
{
    struct asp_strbuf out = asp_strbuf_on(buf, size);

    for (enum asp_winkey_id id = 0; id < ASP_WINKEY_COUNT; id++)
        put_word(&out, asp_winkeys[id].name, "=", rule->value[id]);
    return buf;
}
