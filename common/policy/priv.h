/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the policy_*.c files only. */
#ifndef ASPEN_COMMON_POLICY_PRIV_H
#define ASPEN_COMMON_POLICY_PRIV_H

#include "policy.h"
#include "yaml.h"

/* One value in a rule. */
struct asp_rule_set {
    enum asp_knob_id id;
    struct asp_setting setting;
};

/* A rule: all its match lines must hold. */
struct asp_rule {
    const struct asp_yaml_node *match; /* NULL: always; in policy->docs */
    struct asp_rule_set *sets;         /* owned */
    size_t nsets;
    struct asp_objrules *objects[ASP_OBJ_KINDS]; /* owned; NULL: none */
};

struct asp_limit {
    bool has_min, has_max;
    int64_t min, max;
    char allow[ASP_ALLOW_MAX][ASP_NAME_MAX];
    size_t nallow;
    char origin[ASP_ERR_PLACE_MAX];
};

/* The rules for objects of one kind. */
struct asp_policy_objects {
    struct asp_objrules layers[ASP_LAYER_COUNT]; /* as they were read */
    struct asp_objrules all;                     /* resolved, weakest first */
    uint32_t nsite;                              /* of these, from the site */
    char note[ASP_ERR_PLACE_MAX]; /* what became of a rule of the job, or "" */
};

struct asp_policy {
    struct asp_setting layers[ASP_LAYER_COUNT][ASP_KNOB_COUNT];
    struct asp_setting resolved[ASP_KNOB_COUNT];
    struct asp_limit limits[ASP_KNOB_COUNT];
    struct asp_advice advice; /* for auto */
    bool is_auto;
    enum asp_layer wanted;  /* strongest SPEC that says "on"; BUILTIN: none */
    struct asp_rule *rules; /* owned */
    size_t nrules;
    struct asp_yaml *doc; /* the site policy: rules point into it */
    struct asp_policy_objects objects[ASP_OBJ_KINDS];
};

/* Check a value and store it in settings[id] with its origin. "ghost:2" as
 * mode sets ghosts too. Refuses a second value for the same knob.
 * Returns 0, or -1 with errno EINVAL or ENOTSUP and place and reason. */
int asp_policy_set(struct asp_setting settings[ASP_KNOB_COUNT],
                   const char *name, const char *value, enum asp_layer layer,
                   const struct asp_location *at, struct asp_err *err);

/* Refuse a key that is not among the known ones, with a suggestion. */
int asp_policy_unknown(const char *what, const char *word,
                       const char *const known[], size_t nknown,
                       const struct asp_location *at, struct asp_err *err);

/* Read a whole file, at most ASP_POLICY_FILE_MAX bytes; *text_p is the
 * caller's. owner_uid (uid_t) -1 is a job's file: no demands on the owner. */
int asp_policy_read(const char *path, uid_t owner_uid, char **text_p,
                    size_t *len_p, struct asp_err *err);

/* rules: and limits: of a site policy. */
int asp_policy_rules(struct asp_policy *policy, const struct asp_yaml_node *seq,
                     struct asp_err *err);
int asp_policy_limits(struct asp_policy *policy,
                      const struct asp_yaml_node *map, struct asp_err *err);

/* The value that a limit puts in the place of value, or NULL if it may stay. */
const char *asp_limit_apply(enum asp_knob_id id, const struct asp_limit *limit,
                            const char *value, char buf[ASP_VALUE_MAX]);

/* coll.table and coll.save of the profile, when nobody said which. */
void asp_policy_profile_table(struct asp_policy *policy);

/* p2p, in knob and rules, and offload, of which a step has one at most, and p2p
 * only in mode ghost. What cannot be had is off in what was resolved, with a
 * note where the job asked for it. Returns 0, or -1 with errno EPERM if the job
 * says require, too. */
int asp_policy_p2p(struct asp_policy *policy, struct asp_err *err);

/* Append the rules of a section of that kind, or one in its text form. On
 * failure rules->n may have grown; the caller gives up or puts it back. */
int asp_policy_objects_read(struct asp_objrules *rules,
                            enum asp_objkind_id kind,
                            const struct asp_yaml_node *list,
                            struct asp_err *err);
int asp_policy_objects_spec(struct asp_objrules *rules,
                            enum asp_objkind_id kind, const char *text,
                            const char *origin, struct asp_err *err);

/* The kind of the rules in this section of a policy. Returns ASP_OBJ_KINDS if
 * it is none of theirs. */
enum asp_objkind_id asp_policy_objects_section(const char *key);

/* Merge: site, the site's rules that match, job, environment, line. */
int asp_policy_objects_resolve(struct asp_policy *policy,
                               const struct asp_facts *facts,
                               struct asp_err *err);

/* All knobs of a map, nested or dotted, into settings. */
int asp_policy_map(struct asp_setting settings[ASP_KNOB_COUNT],
                   const struct asp_yaml_node *map, const char *prefix,
                   enum asp_layer layer, struct asp_err *err);

bool asp_rule_matches(const struct asp_rule *rule,
                      const struct asp_facts *facts);
void asp_rules_free(struct asp_rule *rules, size_t nrules);

#endif
