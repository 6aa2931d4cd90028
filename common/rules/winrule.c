/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules for windows: the schema at work, and checks of a whole rule. Their
 * text form is in text.c. */
#include "winrule.h"

#include "common/base/printable.h"
#include "common/base/strbuf.h"
#include "common/base/words.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ASP_WINKEY_ROW(ID, NAME, ALIAS, TYPE, VALUES, FLAGS, HELP)             \
    [ASP_WIN_##ID] = {NAME, ALIAS, ASP_WIN_##TYPE, VALUES, FLAGS, HELP},

const struct asp_winkey asp_winkeys[ASP_WINKEY_COUNT] = {
    ASP_WINKEYS(ASP_WINKEY_ROW)};

enum asp_winkey_id asp_winkey_find(const char *name)
{
    enum asp_winkey_id id = 0;

    while (id < ASP_WINKEY_COUNT && strcmp(asp_winkeys[id].name, name) != 0 &&
           (asp_winkeys[id].alias[0] == '\0' ||
            strcmp(asp_winkeys[id].alias, name) != 0))
        id++;
    return id;
}

static int refuse(const struct asp_winkey *key, const char *value,
                  struct asp_err *err)
{
    return asp_errf(err, EINVAL, "%s: \"%.64s\" is none of %s%s", key->name,
                    value, key->values,
                    key->type == ASP_WIN_LIST ? ", with commas between" : "");
}

/* Words by commas or blanks, in the order of the schema. "none" stands
 * alone. */
static int check_list(const struct asp_winkey *key, const char *value,
                      char out[ASP_WINVALUE_MAX], struct asp_err *err)
{
    char wanted[16] = "", text[ASP_WINVALUE_MAX] = "";
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

static int check_value(const struct asp_winkey *key, const char *value,
                       char out[ASP_WINVALUE_MAX], struct asp_err *err)
{
    static const char yes[] = "true|yes|on|1", no[] = "false|no|off|0";
    size_t len = strlen(value);

    switch (key->type) {
    case ASP_WIN_WORD:
        if (!asp_is_among(value, len, key->values))
            return refuse(key, value, err);
        snprintf(out, ASP_WINVALUE_MAX, "%s", value);
        return 0;
    case ASP_WIN_BOOL:
        if (!asp_is_among(value, len, yes) && !asp_is_among(value, len, no))
            return refuse(key, value, err);
        strcpy(out, asp_is_among(value, len, yes) ? "true" : "false");
        return 0;
    case ASP_WIN_LIST:
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

static int set_order(struct asp_winrule *rule, const char *value,
                     struct asp_err *err)
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
                        "order: \"%.32s\" is no number of a "
                        "window; give 3, 1-4 or 5- (the first is 1)",
                        value);
    rule->first = first;
    rule->last = last;
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

int asp_winrule_set(struct asp_winrule *rule, const char *key,
                    const char *value, struct asp_err *err)
{
    enum asp_winkey_id id = asp_winkey_find(key);

    if (strcmp(key, "order") == 0)
        return rule->first ? twice(key, err) : set_order(rule, value, err);
    if (strcmp(key, "name") == 0)
        return rule->name[0] ? twice(key, err)
                             : set_pattern(key, value, rule->name,
                                           sizeof(rule->name), err);
    if (strcmp(key, "site") == 0)
        return rule->site[0] ? twice(key, err)
                             : set_pattern(key, value, rule->site,
                                           sizeof(rule->site), err);
    if (id == ASP_WINKEY_COUNT)
        return asp_errf(err, EINVAL, "unknown key \"%.64s\" of a window", key);
    if (rule->value[id][0])
        return twice(asp_winkeys[id].name, err);
    return check_value(&asp_winkeys[id], value, rule->value[id], err);
}

/* Can it be set for a window that is in use? It cannot become MPI's own. */
static bool comes_late(const struct asp_winrule *rule, enum asp_winkey_id id)
{
    return !rule->value[id][0] || (asp_winkeys[id].flags & ASP_WIN_LATER &&
                                   strcmp(rule->value[id], "native") != 0);
}

/* Names come when the window is in use: see docs/design/window-rules.md. */
static int check_name(const struct asp_winrule *rule, struct asp_err *err)
{
    for (enum asp_winkey_id id = 0; id < ASP_WINKEY_COUNT; id++)
        if (!comes_late(rule, id))
            return asp_errf(err, EINVAL,
                            "%s is decided when a window is made, before "
                            "MPI_Win_set_name gives it a name: match by order: "
                            "or site:, which the report tells",
                            asp_winkeys[id].name);
    return 0;
}

int asp_winrule_check(const struct asp_winrule *rule, struct asp_err *err)
{
    const char *config = rule->value[ASP_WIN_ASYNC_CONFIG];
    bool off = strcmp(config, "off") == 0 || strcmp(config, "native") == 0;
    unsigned set = 0;

    for (enum asp_winkey_id id = 0; id < ASP_WINKEY_COUNT; id++) {
        if (!rule->value[id][0])
            continue;
        set++;
        if (off && asp_winkeys[id].flags & ASP_WIN_KNOB)
            return asp_errf(err, EINVAL,
                            "%s says nothing of a window that async_config: "
                            "%s leaves to MPI",
                            asp_winkeys[id].name, config);
    }
    if (set == 0)
        return asp_errf(err, EINVAL, "a rule for windows sets nothing");
    if (strcmp(rule->value[ASP_WIN_NO_LOCKS], "true") == 0 &&
        strstr(rule->value[ASP_WIN_EPOCHS_USED], "lock"))
        return asp_errf(err, EINVAL,
                        "no_locks: true contradicts epochs_used: "
                        "%s",
                        rule->value[ASP_WIN_EPOCHS_USED]);
    return rule->name[0] ? check_name(rule, err) : 0;
}
