/* SPDX-License-Identifier: BSD-3-Clause */
/* rules: and limits: of a site policy. A rule is checked in full when it is
 * read, so that matching cannot fail. */
#include "config.h"

#include "priv.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a rule can ask for: a pattern on a text, or a comparison. */
enum fact { PARTITION, ACCOUNT, USER, QOS, PROGRAM, NODES, TASKS, FACTS };

static const char *const fact_names[FACTS] = {
    "partition", "account", "user",          "qos",
    "program",   "nodes",   "tasks_per_node"};

static enum fact find_fact(const char *name)
{
    enum fact fact = 0;

    while (fact < FACTS && strcmp(fact_names[fact], name) != 0)
        fact++;
    return fact;
}

static const char *fact_text(const struct asp_facts *facts, enum fact fact)
{
    const char *program;

    switch (fact) {
    case PARTITION:
        return facts->partition;
    case ACCOUNT:
        return facts->account;
    case USER:
        return facts->user;
    case QOS:
        return facts->qos;
    case PROGRAM:
        program = facts->program ? strrchr(facts->program, '/') : NULL;
        return program ? program + 1 : facts->program;
    case NODES:
    case TASKS:
    case FACTS:
        break;
    }
    return NULL;
}

/* A comparison: ">=4", "<8", "2-16", "3". */
struct range {
    uint64_t low, high;
};

static int read_count(const char **at_p, uint64_t *out_p)
{
    char *end;

    while (**at_p == ' ')
        ++*at_p;
    if (!isdigit((unsigned char) **at_p))
        return -1;
    *out_p = strtoull(*at_p, &end, 10);
    while (*end == ' ')
        end++;
    *at_p = end;
    return *out_p > UINT32_MAX ? -1 : 0;
}

static int parse_range(const char *text, struct range *range)
{
    static const char ops[] = "<>=";
    bool less = *text == '<', more = *text == '>';
    bool equal = *text == '=' || (*text && text[1] == '=');
    uint64_t n;

    while (*text && strchr(ops, *text))
        text++;
    if (read_count(&text, &n) < 0)
        return -1;
    range->low = less ? 0 : more && !equal ? n + 1 : n;
    range->high = more ? UINT64_MAX : less && !equal ? n - (n > 0) : n;
    if (less && !equal && n == 0)
        range->low = 1; /* nothing is below 0 */
    if (*text == '-' && !less && !more) {
        text++;
        if (read_count(&text, &range->high) < 0)
            return -1;
    }
    return *text ? -1 : 0;
}

static int check_match(const struct asp_yaml_node *match, struct asp_err *err)
{
    for (const struct asp_yaml_node *n = match->first; n; n = n->next) {
        enum fact fact = find_fact(n->key);
        const struct asp_yaml_node *value = n->kind == ASP_YAML_LIST ? n->first
                                                                     : n;
        struct range range;

        if (fact == FACTS)
            return asp_policy_unknown("thing to match", n->key, fact_names,
                                      FACTS, &n->key_at, err);
        for (; value; value = n->kind == ASP_YAML_LIST ? value->next : NULL) {
            if (value->kind != ASP_YAML_SCALAR)
                return asp_err_at(err, EINVAL, &value->at,
                                  "%s takes a value or a list of values",
                                  n->key);
            if (fact >= NODES && parse_range(value->text, &range) < 0)
                return asp_err_at(err, EINVAL, &value->at,
                                  "%s: \"%.32s\" is no comparison; give 4, "
                                  "2-16, \">=4\" or \"<8\"",
                                  n->key, value->text);
        }
    }
    return 0;
}

static bool value_matches(enum fact fact, const char *text,
                          const struct asp_facts *facts)
{
    const char *name = fact_text(facts, fact);
    uint64_t count = fact == NODES ? facts->nodes : facts->tasks_per_node;
    struct range range;

    if (fact < NODES)
        return name && fnmatch(text, name, 0) == 0;
    return count > 0 && parse_range(text, &range) == 0 && count >= range.low &&
           count <= range.high;
}

bool asp_rule_matches(const struct asp_rule *rule,
                      const struct asp_facts *facts)
{
    if (!rule->match || !rule->match->first)
        return true;
    if (!facts)
        return false;
    for (const struct asp_yaml_node *n = rule->match->first; n; n = n->next) {
        enum fact fact = find_fact(n->key);
        bool any = false;

        if (n->kind == ASP_YAML_SCALAR)
            any = value_matches(fact, n->text, facts);
        else
            for (const struct asp_yaml_node *v = n->first; v; v = v->next)
                any = any || value_matches(fact, v->text, facts);
        if (!any)
            return false;
    }
    return true;
}

static int read_sets(struct asp_rule *rule, const struct asp_yaml_node *map,
                     struct asp_err *err)
{
    struct asp_setting *settings = calloc(ASP_KNOB_COUNT, sizeof(*settings));
    int rc;

    rule->sets = calloc(ASP_KNOB_COUNT, sizeof(*rule->sets));
    if (!settings || !rule->sets) {
        free(settings);
        return asp_err_at(err, ENOMEM, &map->at, "no memory");
    }
    rc = asp_policy_map(settings, map, "", ASP_LAYER_RULE, err);
    for (enum asp_knob_id id = 0; rc == 0 && id < ASP_KNOB_COUNT; id++) {
        if (!settings[id].set)
            continue;
        rule->sets[rule->nsets].id = id;
        rule->sets[rule->nsets++].setting = settings[id];
    }
    free(settings);
    return rc;
}

static int read_objects(struct asp_rule *rule, enum asp_objkind_id kind,
                        const struct asp_yaml_node *list, struct asp_err *err)
{
    rule->objects[kind] = calloc(1, sizeof(*rule->objects[kind]));
    if (!rule->objects[kind])
        return asp_err_at(err, ENOMEM, &list->at, "no memory");
    return asp_policy_objects_read(rule->objects[kind], kind, list, err);
}

static int read_rule(struct asp_rule *rule, const struct asp_yaml_node *map,
                     struct asp_err *err)
{
    static const char *const known[] = {"match", "set", "windows",
                                        "communicators"};
    const struct asp_yaml_node *set = NULL, *objects = NULL;

    for (const struct asp_yaml_node *n = map->first; n; n = n->next) {
        enum asp_objkind_id kind = asp_policy_objects_section(n->key);

        if (kind < ASP_OBJ_KINDS) {
            objects = n;
            if (read_objects(rule, kind, n, err) < 0)
                return -1;
        } else if (n->kind != ASP_YAML_MAP)
            return asp_err_at(err, EINVAL, &n->at, "%s takes a map", n->key);
        else if (strcmp(n->key, "match") == 0)
            rule->match = n;
        else if (strcmp(n->key, "set") == 0)
            set = n;
        else
            return asp_policy_unknown("part of a rule", n->key, known, 4,
                                      &n->key_at, err);
    }
    if (!set && !objects)
        return asp_err_at(err, EINVAL, &map->at,
                          "a rule needs set:, windows: or communicators:");
    if (rule->match && check_match(rule->match, err) < 0)
        return -1;
    return set ? read_sets(rule, set, err) : 0;
}

int asp_policy_rules(struct asp_policy *policy, const struct asp_yaml_node *seq,
                     struct asp_err *err)
{
    size_t count = 0;

    if (seq->kind != ASP_YAML_LIST)
        return asp_err_at(err, EINVAL, &seq->at,
                          "rules: takes a list of match: and set:");
    for (const struct asp_yaml_node *n = seq->first; n; n = n->next)
        count++;
    if (count > ASP_RULES_MAX)
        return asp_err_at(err, EINVAL, &seq->at, "more than %d rules",
                          ASP_RULES_MAX);
    policy->rules = calloc(count + 1, sizeof(*policy->rules));
    if (!policy->rules)
        return asp_err_at(err, ENOMEM, &seq->at, "no memory");
    for (const struct asp_yaml_node *n = seq->first; n; n = n->next) {
        if (n->kind != ASP_YAML_MAP)
            return asp_err_at(err, EINVAL, &n->at,
                              "a rule is a map of match: and set:");
        if (read_rule(&policy->rules[policy->nrules++], n, err) < 0)
            return -1;
    }
    return 0;
}

void asp_rules_free(struct asp_rule *rules, size_t nrules)
{
    for (size_t i = 0; i < nrules; i++) {
        free(rules[i].sets);
        for (enum asp_objkind_id kind = 0; kind < ASP_OBJ_KINDS; kind++)
            free(rules[i].objects[kind]);
    }
    free(rules);
}

static int read_allow(struct asp_limit *limit, enum asp_knob_id id,
                      const struct asp_yaml_node *list, struct asp_err *err)
{
    if (list->kind != ASP_YAML_LIST || !list->first)
        return asp_err_at(err, EINVAL, &list->at,
                          "allow takes a list of values");
    for (const struct asp_yaml_node *n = list->first; n; n = n->next) {
        char text[ASP_VALUE_MAX];
        struct asp_err why;

        if (n->kind != ASP_YAML_SCALAR || limit->nallow == ASP_ALLOW_MAX)
            return asp_err_at(err, EINVAL, &n->at,
                              "allow takes at most %d values", ASP_ALLOW_MAX);
        if (asp_knob_check(id, n->text, text, &why) < 0)
            return asp_err_at(err, EINVAL, &n->at, "%s", why.text);
        snprintf(limit->allow[limit->nallow++], ASP_NAME_MAX, "%.63s", text);
    }
    return 0;
}

static int read_bound(struct asp_limit *limit, enum asp_knob_id id, bool max,
                      const struct asp_yaml_node *n, struct asp_err *err)
{
    char text[ASP_VALUE_MAX];
    struct asp_err why;
    bool counts = asp_knobs[id].type == ASP_TYPE_NUMBER;

    if (!counts || n->kind != ASP_YAML_SCALAR)
        return asp_err_at(err, EINVAL, &n->at,
                          "%s has no order: limit it with allow: [...]",
                          asp_knobs[id].name);
    if (asp_knob_check(id, n->text, text, &why) < 0)
        return asp_err_at(err, EINVAL, &n->at, "%s", why.text);
    if (text[0] < '0' || text[0] > '9')
        return asp_err_at(err, EINVAL, &n->at,
                          "%s: %.20s is no bound; give a number",
                          asp_knobs[id].name, text);
    *(max ? &limit->has_max : &limit->has_min) = true;
    *(max ? &limit->max : &limit->min) = strtoll(text, NULL, 10);
    return 0;
}

static int read_limit(struct asp_limit *limit, enum asp_knob_id id,
                      const struct asp_yaml_node *map, struct asp_err *err)
{
    static const char *const known[] = {"max", "min", "allow"};

    for (const struct asp_yaml_node *n = map->first; n; n = n->next) {
        bool max = strcmp(n->key, "max") == 0;
        int rc;

        if (max || strcmp(n->key, "min") == 0)
            rc = read_bound(limit, id, max, n, err);
        else if (strcmp(n->key, "allow") == 0)
            rc = read_allow(limit, id, n, err);
        else
            rc = asp_policy_unknown("limit", n->key, known, 3, &n->key_at, err);
        if (rc < 0)
            return -1;
    }
    if (limit->has_min && limit->has_max && limit->min > limit->max)
        return asp_err_at(err, EINVAL, &map->at, "min is above max");
    snprintf(limit->origin, sizeof(limit->origin), "%.200s:%zu:%zu",
             map->key_at.file, map->key_at.line, map->key_at.column);
    return 0;
}

int asp_policy_limits(struct asp_policy *policy,
                      const struct asp_yaml_node *map, struct asp_err *err)
{
    const char *names[ASP_KNOB_COUNT];

    for (enum asp_knob_id id = 0; id < ASP_KNOB_COUNT; id++)
        names[id] = asp_knobs[id].name;
    for (const struct asp_yaml_node *n = map->first; n; n = n->next) {
        enum asp_knob_id id = asp_knob_find(n->key);

        if (id == ASP_KNOB_COUNT)
            return asp_policy_unknown("setting", n->key, names, ASP_KNOB_COUNT,
                                      &n->key_at, err);
        if (n->kind != ASP_YAML_MAP)
            return asp_err_at(err, EINVAL, &n->at,
                              "%s: takes a map of min, max or allow", n->key);
        if (read_limit(&policy->limits[id], id, n, err) < 0)
            return -1;
    }
    return 0;
}
