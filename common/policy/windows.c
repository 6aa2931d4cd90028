/* SPDX-License-Identifier: BSD-3-Clause */
/* windows: of a site policy, of a site's rule and of a job policy, and window=
 * of a request; merged into one list, weakest first. */
#include "config.h"

#include "common/base/strbuf.h"
#include "priv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const matchers[] = {"name", "order", "site"};

enum { MATCHERS = sizeof(matchers) / sizeof(matchers[0]) };

static int refuse_key(const struct asp_yaml_node *n, struct asp_err *err)
{
    const char *known[MATCHERS + ASP_WINKEY_COUNT];

    memcpy(known, matchers, sizeof(matchers));
    for (enum asp_winkey_id id = 0; id < ASP_WINKEY_COUNT; id++)
        known[MATCHERS + id] = asp_winkeys[id].name;
    return asp_policy_unknown("key of a window rule", n->key, known,
                              MATCHERS + ASP_WINKEY_COUNT, &n->key_at, err);
}

static bool is_known(const char *key)
{
    for (size_t i = 0; i < MATCHERS; i++)
        if (strcmp(matchers[i], key) == 0)
            return true;
    return asp_winkey_find(key) < ASP_WINKEY_COUNT;
}

/* The items of a YAML list, as one text with commas. */
static int join(const struct asp_yaml_node *list, char *out, size_t size,
                struct asp_err *err)
{
    struct asp_strbuf sb = asp_strbuf_on(out, size);

    for (const struct asp_yaml_node *n = list->first; n; n = n->next) {
        if (n->kind == ASP_YAML_SCALAR)
            asp_strbuf_add(&sb, "%s%s", sb.len ? "," : "", n->text);
        if (n->kind != ASP_YAML_SCALAR || sb.cut)
            return asp_err_at(err, EINVAL, &n->at,
                              "a list of words is wanted here");
    }
    return 0;
}

/* One line of a rule. "rma: {binding: segment}" is nested, as knobs may be. */
static int read_item(struct asp_winrule *rule, const struct asp_yaml_node *n,
                     const char *prefix, struct asp_err *err)
{
    char key[ASP_NAME_MAX * 2], list[ASP_VALUE_MAX] = "";
    struct asp_err why;
    int rc = 0;

    snprintf(key, sizeof(key), "%s%.64s", prefix, n->key);
    if (n->kind == ASP_YAML_MAP && !prefix[0] && strcmp(key, "rma") == 0) {
        for (const struct asp_yaml_node *m = n->first; rc == 0 && m;
             m = m->next)
            rc = read_item(rule, m, "rma.", err);
        return rc;
    }
    if (!is_known(key))
        return refuse_key(n, err);
    if (n->kind == ASP_YAML_MAP)
        return asp_err_at(err, EINVAL, &n->at, "%.64s takes a value", key);
    if (n->kind == ASP_YAML_LIST && join(n, list, sizeof(list), err) < 0)
        return -1;
    if (asp_winrule_set(rule, key, n->kind == ASP_YAML_LIST ? list : n->text,
                        &why) < 0)
        return asp_err_at(err, EINVAL, &n->at, "%s", why.text);
    return 0;
}

static int read_window(struct asp_winrule *rule,
                       const struct asp_yaml_node *map, struct asp_err *err)
{
    const char *slash = strrchr(map->at.file, '/');
    struct asp_err why;

    if (map->kind != ASP_YAML_MAP)
        return asp_err_at(err, EINVAL, &map->at,
                          "a rule for windows is a map of keys");
    for (const struct asp_yaml_node *n = map->first; n; n = n->next)
        if (read_item(rule, n, "", err) < 0)
            return -1;
    if (asp_winrule_check(rule, &why) < 0)
        return asp_err_at(err, EINVAL, &map->at, "%s", why.text);
    snprintf(rule->origin, sizeof(rule->origin), "%.40s:%zu:%zu",
             slash ? slash + 1 : map->at.file, map->at.line, map->at.column);
    return 0;
}

int asp_policy_windows_read(struct asp_winrules *rules,
                            const struct asp_yaml_node *list,
                            struct asp_err *err)
{
    if (list->kind != ASP_YAML_LIST)
        return asp_err_at(err, EINVAL, &list->at,
                          "windows: takes a list of rules");
    for (const struct asp_yaml_node *n = list->first; n; n = n->next) {
        if (rules->n == ASP_WINRULES_MAX)
            return asp_err_at(err, EINVAL, &n->at,
                              "more than %d rules for windows",
                              ASP_WINRULES_MAX);
        if (read_window(&rules->rule[rules->n], n, err) < 0)
            return -1;
        rules->n++;
    }
    return 0;
}

int asp_policy_windows_spec(struct asp_winrules *rules, const char *text,
                            const char *origin, struct asp_err *err)
{
    struct asp_err why;
    struct asp_winrule *rule = &rules->rule[rules->n];

    if (rules->n == ASP_WINRULES_MAX)
        return asp_err_in(err, EINVAL, origin, "more than %d rules for windows",
                          ASP_WINRULES_MAX);
    if (asp_winrule_parse(text, strlen(text), rule, &why) < 0)
        return asp_err_in(err, EINVAL, origin, "window: %s", why.text);
    if (!rule->origin[0])
        snprintf(rule->origin, sizeof(rule->origin), "%.*s",
                 (int) sizeof(rule->origin) - 1, origin);
    rules->n++;
    return 0;
}

static int append(struct asp_winrules *to, const struct asp_winrules *from,
                  struct asp_err *err)
{
    if (to->n + from->n > ASP_WINRULES_MAX)
        return asp_errf(err, EINVAL,
                        "more than %d rules for windows, of site "
                        "and job together",
                        ASP_WINRULES_MAX);
    memcpy(to->rule + to->n, from->rule, from->n * sizeof(from->rule[0]));
    to->n += from->n;
    return 0;
}

/* The site's limits on knobs hold for single windows, too. */
static void limit(struct asp_policy *policy, struct asp_winrule *rule)
{
    for (enum asp_winkey_id id = 0; id < ASP_WINKEY_COUNT; id++) {
        const struct asp_winkey *key = &asp_winkeys[id];
        char buf[ASP_VALUE_MAX], *value = rule->value[id];
        enum asp_knob_id knob;
        const char *becomes;

        if (!value[0] || !(key->flags & ASP_WIN_KNOB))
            continue;
        knob = asp_knob_find(key->name);
        becomes = asp_limit_apply(knob, &policy->limits[knob], value, buf);
        if (!becomes)
            continue;
        snprintf(policy->windows_note, sizeof(policy->windows_note),
                 "%s %s (%s) became %.20s: limited by %.80s", key->name, value,
                 rule->origin, becomes, policy->limits[knob].origin);
        snprintf(value, ASP_WINVALUE_MAX, "%.*s", ASP_WINVALUE_MAX - 1,
                 becomes);
    }
}

int asp_policy_windows_resolve(struct asp_policy *policy,
                               const struct asp_facts *facts,
                               struct asp_err *err)
{
    struct asp_winrules *all = &policy->windows;

    all->n = 0;
    policy->windows_note[0] = '\0';
    if (append(all, &policy->windows_of[ASP_LAYER_SITE], err) < 0)
        return -1;
    for (size_t r = 0; r < policy->nrules; r++)
        if (policy->rules[r].windows &&
            asp_rule_matches(&policy->rules[r], facts) &&
            append(all, policy->rules[r].windows, err) < 0)
            return -1;
    policy->windows_site = all->n;
    for (int layer = ASP_LAYER_JOB; layer < ASP_LAYER_COUNT; layer++)
        if (append(all, &policy->windows_of[layer], err) < 0)
            return -1;
    for (uint32_t i = 0; i < all->n; i++) {
        limit(policy, &all->rule[i]);
        if (i < policy->windows_site)
            policy->windows_note[0] = '\0'; /* the site's own affair */
    }
    return 0;
}

const struct asp_winrules *asp_policy_windows(const struct asp_policy *policy)
{
    return &policy->windows;
}
