/* SPDX-License-Identifier: BSD-3-Clause */
/* windows: and communicators: of a site policy, of a site's rule and of a job
 * policy, and window= and communicator= of a request; merged into one list of
 * each kind, weakest first. */
#include "config.h"

#include "common/base/strbuf.h"
#include "priv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KNOWN_MAX = 4 + ASP_OBJKEYS_MAX }; /* matchers and keys of a kind */

static int refuse_key(const struct asp_objkind *kind,
                      const struct asp_yaml_node *n, struct asp_err *err)
{
    const char *known[KNOWN_MAX];
    char what[ASP_NAME_MAX];
    size_t nknown = 0;

    for (size_t m = 0; m < kind->nmatchers; m++)
        known[nknown++] = kind->matchers[m].name;
    for (size_t k = 0; k < kind->nkeys; k++)
        known[nknown++] = kind->keys[k].name;
    snprintf(what, sizeof(what), "key of a %s rule", kind->word);
    return asp_policy_unknown(what, n->key, known, nknown, &n->key_at, err);
}

static bool is_known(const struct asp_objkind *kind, const char *key)
{
    return asp_objmatcher_known(kind, key) ||
           asp_objkey_find(kind, key) < kind->nkeys;
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
static int read_item(struct asp_objrule *rule, const struct asp_yaml_node *n,
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
    if (!is_known(asp_objkind(rule->kind), key))
        return refuse_key(asp_objkind(rule->kind), n, err);
    if (n->kind == ASP_YAML_MAP)
        return asp_err_at(err, EINVAL, &n->at, "%.64s takes a value", key);
    if (n->kind == ASP_YAML_LIST && join(n, list, sizeof(list), err) < 0)
        return -1;
    if (asp_objrule_set(rule, key, n->kind == ASP_YAML_LIST ? list : n->text,
                        &why) < 0)
        return asp_err_at(err, EINVAL, &n->at, "%s", why.text);
    return 0;
}

static int read_object(struct asp_objrule *rule,
                       const struct asp_yaml_node *map, struct asp_err *err)
{
    const char *slash = strrchr(map->at.file, '/');
    struct asp_err why;

    if (map->kind != ASP_YAML_MAP)
        return asp_err_at(err, EINVAL, &map->at,
                          "a rule for %s is a map of keys",
                          asp_objkind(rule->kind)->section);
    for (const struct asp_yaml_node *n = map->first; n; n = n->next)
        if (read_item(rule, n, "", err) < 0)
            return -1;
    if (asp_objrule_check(rule, &why) < 0)
        return asp_err_at(err, EINVAL, &map->at, "%s", why.text);
    snprintf(rule->origin, sizeof(rule->origin), "%.40s:%zu:%zu",
             slash ? slash + 1 : map->at.file, map->at.line, map->at.column);
    return 0;
}

enum asp_objkind_id asp_policy_objects_section(const char *key)
{
    enum asp_objkind_id kind = 0;

    while (kind < ASP_OBJ_KINDS && strcmp(asp_objkind(kind)->section, key) != 0)
        kind++;
    return kind;
}

/* Room for one more. */
static struct asp_objrule *next_rule(struct asp_objrules *rules,
                                     enum asp_objkind_id kind,
                                     struct asp_err *why)
{
    struct asp_objrule *rule = &rules->rule[rules->n];

    if (rules->n == ASP_OBJRULES_MAX) {
        asp_errf(why, EINVAL, "more than %d rules for %s", ASP_OBJRULES_MAX,
                 asp_objkind(kind)->section);
        return NULL;
    }
    *rule = (struct asp_objrule){.kind = kind};
    return rule;
}

int asp_policy_objects_read(struct asp_objrules *rules,
                            enum asp_objkind_id kind,
                            const struct asp_yaml_node *list,
                            struct asp_err *err)
{
    struct asp_err why;

    if (list->kind != ASP_YAML_LIST)
        return asp_err_at(err, EINVAL, &list->at, "%s: takes a list of rules",
                          asp_objkind(kind)->section);
    for (const struct asp_yaml_node *n = list->first; n; n = n->next) {
        struct asp_objrule *rule = next_rule(rules, kind, &why);

        if (!rule)
            return asp_err_at(err, EINVAL, &n->at, "%s", why.text);
        if (read_object(rule, n, err) < 0)
            return -1;
        rules->n++;
    }
    return 0;
}

int asp_policy_objects_spec(struct asp_objrules *rules,
                            enum asp_objkind_id kind, const char *text,
                            const char *origin, struct asp_err *err)
{
    struct asp_err why;
    struct asp_objrule *rule = next_rule(rules, kind, &why);

    if (!rule)
        return asp_err_in(err, EINVAL, origin, "%s", why.text);
    if (asp_objrule_parse(kind, text, strlen(text), rule, &why) < 0)
        return asp_err_in(err, EINVAL, origin, "%s: %s",
                          asp_objkind(kind)->word, why.text);
    if (!rule->origin[0])
        snprintf(rule->origin, sizeof(rule->origin), "%.*s",
                 (int) sizeof(rule->origin) - 1, origin);
    rules->n++;
    return 0;
}

static int append(struct asp_objrules *to, const struct asp_objrules *from,
                  enum asp_objkind_id kind, struct asp_err *err)
{
    if (to->n + from->n > ASP_OBJRULES_MAX)
        return asp_errf(err, EINVAL,
                        "more than %d rules for %s, of site and job together",
                        ASP_OBJRULES_MAX, asp_objkind(kind)->section);
    memcpy(to->rule + to->n, from->rule, from->n * sizeof(from->rule[0]));
    to->n += from->n;
    return 0;
}

/* The site's limits on knobs hold for single objects, too. What they change
 * goes into note. */
static void limit(const struct asp_policy *policy, struct asp_objrule *rule,
                  char note[ASP_ERR_PLACE_MAX])
{
    const struct asp_objkind *kind = asp_objkind(rule->kind);

    for (size_t k = 0; k < kind->nkeys; k++) {
        const struct asp_objkey *key = &kind->keys[k];
        char buf[ASP_VALUE_MAX], *value = rule->value[k];
        enum asp_knob_id knob;
        const char *becomes;

        if (!value[0] || !(key->flags & ASP_OBJ_KNOB))
            continue;
        knob = asp_knob_find(key->name);
        becomes = asp_limit_apply(knob, &policy->limits[knob], value, buf);
        if (!becomes)
            continue;
        snprintf(note, ASP_ERR_PLACE_MAX,
                 "%s %s (%s) became %.20s: limited by %.80s", key->name, value,
                 rule->origin, becomes, policy->limits[knob].origin);
        snprintf(value, ASP_OBJVALUE_MAX, "%.*s", ASP_OBJVALUE_MAX - 1,
                 becomes);
    }
}

/* The rules of one kind, of all that had them. */
static int merge(struct asp_policy *policy, enum asp_objkind_id kind,
                 const struct asp_facts *facts, struct asp_err *err)
{
    struct asp_policy_objects *objects = &policy->objects[kind];
    struct asp_objrules *all = &objects->all;

    all->n = 0;
    if (append(all, &objects->layers[ASP_LAYER_SITE], kind, err) < 0)
        return -1;
    for (size_t r = 0; r < policy->nrules; r++)
        if (policy->rules[r].objects[kind] &&
            asp_rule_matches(&policy->rules[r], facts) &&
            append(all, policy->rules[r].objects[kind], kind, err) < 0)
            return -1;
    objects->nsite = all->n;
    for (int layer = ASP_LAYER_JOB; layer < ASP_LAYER_COUNT; layer++)
        if (append(all, &objects->layers[layer], kind, err) < 0)
            return -1;
    return 0;
}

int asp_policy_objects_resolve(struct asp_policy *policy,
                               const struct asp_facts *facts,
                               struct asp_err *err)
{
    for (enum asp_objkind_id kind = 0; kind < ASP_OBJ_KINDS; kind++) {
        struct asp_policy_objects *objects = &policy->objects[kind];

        objects->note[0] = '\0';
        if (merge(policy, kind, facts, err) < 0)
            return -1;
        for (uint32_t i = 0; i < objects->all.n; i++) {
            char note[ASP_ERR_PLACE_MAX] = "";

            limit(policy, &objects->all.rule[i], note);
            if (note[0] && i >= objects->nsite) /* not the site's own affair */
                memcpy(objects->note, note, sizeof(note));
        }
    }
    return 0;
}

const struct asp_objrules *asp_policy_objects(const struct asp_policy *policy,
                                              enum asp_objkind_id kind)
{
    return &policy->objects[kind].all;
}
