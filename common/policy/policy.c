/* SPDX-License-Identifier: BSD-3-Clause */
/* Merge the layers, apply the limits, hand out the result; see policy.h. */
#include "config.h"

#include "common/layout/idle_auto.h"
#include "common/base/hash.h"
#include "common/base/strbuf.h"
#include "priv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct asp_policy *asp_policy_create(void)
{
    struct asp_policy *policy = calloc(1, sizeof(*policy));

    if (!policy)
        return NULL;
    policy->advice.mode = ASP_MODE_AUTO;
    for (enum asp_knob_id id = 0; id < ASP_KNOB_COUNT; id++) {
        struct asp_setting *s = &policy->layers[ASP_LAYER_BUILTIN][id];

        s->set = true;
        s->layer = ASP_LAYER_BUILTIN;
        snprintf(s->value, sizeof(s->value), "%s", asp_knobs[id].builtin);
        snprintf(s->origin, sizeof(s->origin), "built-in");
    }
    return policy;
}

void asp_policy_destroy(struct asp_policy *policy)
{
    int saved = errno;

    if (policy) {
        asp_rules_free(policy->rules, policy->nrules);
        asp_yaml_destroy(policy->doc);
        free(policy);
    }
    errno = saved;
}

/* The strongest setting of a knob; later rules win over earlier ones. */
static const struct asp_setting *strongest(const struct asp_policy *policy,
                                           const struct asp_facts *facts,
                                           enum asp_knob_id id)
{
    for (int layer = ASP_LAYER_COUNT - 1; layer > ASP_LAYER_RULE; layer--)
        if (policy->layers[layer][id].set)
            return &policy->layers[layer][id];
    for (size_t r = policy->nrules; r-- > 0;) {
        const struct asp_rule *rule = &policy->rules[r];

        if (!asp_rule_matches(rule, facts))
            continue;
        for (size_t i = 0; i < rule->nsets; i++)
            if (rule->sets[i].id == id)
                return &rule->sets[i].setting;
    }
    if (policy->layers[ASP_LAYER_SITE][id].set)
        return &policy->layers[ASP_LAYER_SITE][id];
    return &policy->layers[ASP_LAYER_BUILTIN][id];
}

/* What "auto" comes to, at least and at most, must stay within bounds, too.
 * Returns false when it does, else the bound. */
static bool bound_word(enum asp_knob_id id, const struct asp_limit *limit,
                       int64_t *out_p)
{
    static const struct {
        enum asp_knob_id id;
        int64_t least, most, instead; /* the last: of what is too much */
    } words[] = {
        {ASP_KNOB_IDLE_SPIN, ASP_IDLE_SPIN_US, ASP_IDLE_SPIN_ALONE_US,
         ASP_IDLE_SPIN_ALONE_US},
        {ASP_KNOB_IDLE_YIELD, ASP_IDLE_YIELD_US, ASP_IDLE_YIELD_US,
         ASP_IDLE_YIELD_US},
    };

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        bool above = limit->has_max && words[i].most > limit->max;
        bool below = limit->has_min && words[i].least < limit->min;

        if (words[i].id != id)
            continue;
        *out_p = above ? limit->max : limit->min;
        if (above && words[i].instead < limit->max)
            *out_p = words[i].instead;
        return above || below;
    }
    return false;
}

/* "off" is always allowed, and what takes the place of a mode that is not. */
const char *asp_limit_apply(enum asp_knob_id id, const struct asp_limit *limit,
                            const char *value, char buf[ASP_VALUE_MAX])
{
    bool word = value[0] < '0' || value[0] > '9';
    int64_t n = word ? 0 : strtoll(value, NULL, 10);

    if (word && bound_word(id, limit, &n)) {
        snprintf(buf, ASP_VALUE_MAX, "%" PRId64, n);
        return buf;
    }
    if (!word && limit->has_max && n > limit->max)
        n = limit->max;
    if (!word && limit->has_min && n < limit->min)
        n = limit->min;
    if (!word && (limit->has_min || limit->has_max)) {
        snprintf(buf, ASP_VALUE_MAX, "%" PRId64, n);
        if (strcmp(buf, value) != 0)
            return buf;
    }
    if (limit->nallow == 0 ||
        (id == ASP_KNOB_MODE && strcmp(value, "off") == 0))
        return NULL;
    for (size_t i = 0; i < limit->nallow; i++)
        if (strcmp(limit->allow[i], value) == 0)
            return NULL;
    return id == ASP_KNOB_MODE ? "off" : limit->allow[0];
}

static void apply_limit(struct asp_policy *policy, enum asp_knob_id id)
{
    const struct asp_limit *limit = &policy->limits[id];
    struct asp_setting *setting = &policy->resolved[id];
    char buf[ASP_VALUE_MAX];
    const char *value = asp_limit_apply(id, limit, setting->value, buf);

    setting->note[0] = '\0';
    if (!value)
        return;
    snprintf(setting->note, sizeof(setting->note),
             "%s %.40s (%.60s) became %.40s: limited by %.80s",
             asp_knobs[id].name, setting->value, setting->origin, value,
             limit->origin);
    memmove(setting->value, value, strlen(value) + 1);
}

/* The number of ghosts of an earlier run; one that the user gave holds. */
static void advise_ghosts(struct asp_policy *policy)
{
    const struct asp_advice *advice = &policy->advice;
    struct asp_setting *ghosts = &policy->resolved[ASP_KNOB_GHOSTS];

    if (asp_policy_mode(policy) == ASP_MODE_AUTO &&
        advice->mode == ASP_MODE_GHOST && ghosts->layer < ASP_LAYER_JOB)
        snprintf(ghosts->value, sizeof(ghosts->value), "%" PRIu32,
                 advice->ghosts);
}

static bool is_allowed(const struct asp_policy *policy, enum asp_mode mode)
{
    char buf[ASP_VALUE_MAX];

    return !asp_limit_apply(ASP_KNOB_MODE, &policy->limits[ASP_KNOB_MODE],
                            asp_mode_name(mode), buf);
}

/* Without a record of an earlier run: ghosts, but for a lone rank and where
 * there is no place for them. */
static void choose_by_shape(const struct asp_policy *policy,
                            const struct asp_facts *facts,
                            struct asp_advice *choice)
{
    const char *why = NULL;

    if (facts && facts->nodes == 1 && facts->tasks_per_node == 1)
        why = "one rank has nobody to wait for";
    else if (facts && facts->no_ghosts)
        why = facts->no_ghosts;
    else if (!is_allowed(policy, ASP_MODE_GHOST))
        why = "the site allows no ghosts";
    choice->mode = why ? ASP_MODE_OFF : ASP_MODE_GHOST;
    if (!why)
        why = "several ranks may wait for each other, and the run itself "
              "shows if ghosts help";
    /* What cannot be had is told with advice after a colon. */
    snprintf(choice->why, sizeof(choice->why), "%.*s",
             (int) (facts && why == facts->no_ghosts ? strcspn(why, ":")
                                                     : strlen(why)),
             why);
}

/* The run finds out if ghosts help, unless somebody said how it is to adapt. */
static void choose_adapt(struct asp_policy *policy)
{
    struct asp_setting *adapt = &policy->resolved[ASP_KNOB_ADAPT];
    char buf[ASP_VALUE_MAX];

    if (adapt->layer != ASP_LAYER_BUILTIN || adapt->note[0] ||
        asp_limit_apply(ASP_KNOB_ADAPT, &policy->limits[ASP_KNOB_ADAPT], "auto",
                        buf))
        return;
    adapt->chosen = true;
    snprintf(adapt->value, sizeof(adapt->value), "auto");
    snprintf(adapt->origin, sizeof(adapt->origin), "mode auto");
}

/* For the ranks, which know what they run with. */
static void keep_build(struct asp_policy *policy)
{
    struct asp_setting *build = &policy->resolved[ASP_KNOB_PROFILE_BUILD];

    build->chosen = true;
    snprintf(build->value, sizeof(build->value), "%s", policy->advice.build);
    snprintf(build->origin, sizeof(build->origin), "mode auto");
}

/* auto: what an earlier run says, else by the shape. Limits that allow auto may
 * yet forbid what it would choose. */
static void choose_mode(struct asp_policy *policy,
                        const struct asp_facts *facts)
{
    struct asp_setting *mode = &policy->resolved[ASP_KNOB_MODE];
    struct asp_advice choice = policy->advice;

    policy->is_auto = strcmp(mode->value, "auto") == 0;
    if (!policy->is_auto)
        return;
    if (choice.mode == ASP_MODE_AUTO || !is_allowed(policy, choice.mode) ||
        (choice.mode == ASP_MODE_GHOST && facts && facts->no_ghosts))
        choose_by_shape(policy, facts, &choice);
    else if (choice.build[0])
        keep_build(policy);
    if (choice.mode == ASP_MODE_GHOST)
        choose_adapt(policy);
    snprintf(mode->value, sizeof(mode->value), "%s",
             asp_mode_name(choice.mode));
    if (!mode->note[0])
        snprintf(mode->note, sizeof(mode->note), "auto chose %.8s: %s",
                 asp_mode_name(choice.mode), choice.why);
}

/* The knob offload is for ghosts; the mode thread ends the question whether a
 * rank gets a thread of its own. */
static void note_idle_offload(struct asp_policy *policy)
{
    struct asp_setting *offload = &policy->resolved[ASP_KNOB_OFFLOAD];

    if (offload->layer >= ASP_LAYER_JOB && !offload->note[0] &&
        asp_policy_bool(policy, ASP_KNOB_OFFLOAD) &&
        asp_policy_mode(policy) == ASP_MODE_THREAD)
        snprintf(offload->note, sizeof(offload->note),
                 "offload (%.60s) is left out: mode thread has no offload "
                 "threads",
                 offload->origin);
}

/* Did a limit cut what the job asked for, not what a site proposed? */
static bool asked_for(const struct asp_setting *setting)
{
    return setting->layer >= ASP_LAYER_JOB && setting->note[0];
}

/* The note of a limit that cut what the job asked for, or NULL. */
static const char *find_asked(const struct asp_policy *policy)
{
    for (enum asp_objkind_id kind = 0; kind < ASP_OBJ_KINDS; kind++)
        if (policy->objects[kind].note[0])
            return policy->objects[kind].note;
    for (enum asp_knob_id id = 0; id < ASP_KNOB_COUNT; id++)
        if (asked_for(&policy->resolved[id]))
            return policy->resolved[id].note;
    return NULL;
}

/* Who says "on" wants it, although a site or the environment would rather not.
 * A policy file that says off was named by the same user. */
static void heed_wish(struct asp_policy *policy)
{
    struct asp_setting *mode = &policy->resolved[ASP_KNOB_MODE];

    if (mode->layer < policy->wanted && mode->layer != ASP_LAYER_JOB &&
        strcmp(mode->value, "off") == 0)
        snprintf(mode->value, sizeof(mode->value), "auto");
}

int asp_policy_resolve(struct asp_policy *policy, const struct asp_facts *facts,
                       struct asp_err *err)
{
    for (enum asp_knob_id id = 0; id < ASP_KNOB_COUNT; id++) {
        policy->resolved[id] = *strongest(policy, facts, id);
        if (id == ASP_KNOB_MODE)
            heed_wish(policy);
        if (id == ASP_KNOB_GHOSTS)
            advise_ghosts(policy);
        apply_limit(policy, id);
    }
    if (asp_policy_objects_resolve(policy, facts, err) < 0)
        return -1;
    if (asp_policy_bool(policy, ASP_KNOB_REQUIRE)) {
        const char *note = find_asked(policy);

        if (note)
            return asp_errf(err, EPERM, "%s, and the request says require",
                            note);
    }
    choose_mode(policy, facts);
    asp_policy_profile_table(policy);
    if (asp_policy_p2p(policy, err) < 0)
        return -1;
    note_idle_offload(policy);
    return 0;
}

void asp_policy_advise(struct asp_policy *policy,
                       const struct asp_advice *advice)
{
    policy->advice = *advice;
}

bool asp_policy_is_auto(const struct asp_policy *policy)
{
    return policy->is_auto;
}

const struct asp_setting *asp_policy_setting(const struct asp_policy *policy,
                                             enum asp_knob_id id)
{
    return &policy->resolved[id];
}

const char *asp_policy_text(const struct asp_policy *policy,
                            enum asp_knob_id id)
{
    return policy->resolved[id].value;
}

int64_t asp_policy_number(const struct asp_policy *policy, enum asp_knob_id id)
{
    return strtoll(policy->resolved[id].value, NULL, 10);
}

int asp_policy_word(const struct asp_policy *policy, enum asp_knob_id id)
{
    return asp_knob_word(id, policy->resolved[id].value);
}

bool asp_policy_bool(const struct asp_policy *policy, enum asp_knob_id id)
{
    return strcmp(policy->resolved[id].value, "yes") == 0;
}

enum asp_mode asp_policy_mode(const struct asp_policy *policy)
{
    int mode = asp_policy_word(policy, ASP_KNOB_MODE);

    return mode < 0 ? ASP_MODE_OFF : (enum asp_mode) mode; /* not resolved */
}

/* Append a note, if it is one and there is room. */
static void add_note(char *buf, size_t size, const char *note)
{
    size_t used = strlen(buf);

    if (note[0] && used + strlen(note) + 3 <= size)
        snprintf(buf + used, size - used, "%s%s", used ? "; " : "", note);
}

const char *asp_policy_notes(const struct asp_policy *policy, char *buf,
                             size_t size)
{
    buf[0] = '\0';
    for (enum asp_knob_id id = 0; id < ASP_KNOB_COUNT; id++)
        add_note(buf, size, policy->resolved[id].note);
    for (enum asp_objkind_id kind = 0; kind < ASP_OBJ_KINDS; kind++)
        add_note(buf, size, policy->objects[kind].note);
    return buf;
}

/* Does a knob stand in the request? What the site set is known on the nodes;
 * counting has to be told. */
static bool is_said(const struct asp_policy *policy, enum asp_knob_id id,
                    bool counting)
{
    const struct asp_setting *s = &policy->resolved[id];

    if (id == ASP_KNOB_MODE || id == ASP_KNOB_GHOSTS ||
        (id == ASP_KNOB_OFFLOAD && asp_policy_mode(policy) == ASP_MODE_THREAD))
        return false;
    if (s->layer >= ASP_LAYER_JOB || s->chosen)
        return true;
    return counting && (asp_knobs[id].flags & ASP_KNOB_COUNTS) &&
           strcmp(s->value, asp_knobs[id].builtin) != 0;
}

/* The rules for objects that the job brought. */
static void print_objects(const struct asp_policy *policy,
                          struct asp_strbuf *out)
{
    for (enum asp_objkind_id kind = 0; kind < ASP_OBJ_KINDS; kind++) {
        const struct asp_policy_objects *objects = &policy->objects[kind];

        for (uint32_t i = objects->nsite; i < objects->all.n; i++) {
            char text[ASP_OBJRULE_TEXT_MAX];

            asp_objrule_print(&objects->all.rule[i], text, sizeof(text));
            asp_strbuf_add(out, ",%s=%s", asp_objkind(kind)->word, text);
        }
    }
}

static int print_request(const struct asp_policy *policy, bool counting,
                         char *buf, size_t size, struct asp_err *err)
{
    enum asp_mode mode = asp_policy_mode(policy);
    struct asp_strbuf out = asp_strbuf_on(buf, size);
    bool knobs_cut;

    asp_strbuf_add(&out, "%s", asp_mode_name(mode));
    if (mode == ASP_MODE_GHOST)
        asp_strbuf_add(&out, ":%.20s",
                       asp_policy_text(policy, ASP_KNOB_GHOSTS));
    for (enum asp_knob_id id = 0; id < ASP_KNOB_COUNT; id++) {
        if (is_said(policy, id, counting))
            asp_strbuf_add(&out, ",%s=%s", asp_knobs[id].name,
                           policy->resolved[id].value);
    }
    knobs_cut = out.cut;
    print_objects(policy, &out);
    if (out.cut)
        return asp_errf(err, ENOSPC, "the request is longer than %zu bytes%s",
                        size - 1,
                        knobs_cut ? ""
                                  : ": too many rules for windows or "
                                    "communicators");
    return (int) out.len;
}

int asp_policy_canonical(const struct asp_policy *policy, char *buf,
                         size_t size, struct asp_err *err)
{
    return print_request(policy, false, buf, size, err);
}

int asp_policy_counting(const struct asp_policy *policy, char *buf, size_t size,
                        struct asp_err *err)
{
    return print_request(policy, true, buf, size, err);
}

static uint64_t add_hash(uint64_t hash, const char *text)
{
    return asp_hash(hash, text, strlen(text) + 1);
}

void asp_policy_digest(const struct asp_policy *policy, char out[17])
{
    uint64_t hash = ASP_HASH_START;
    char text[ASP_OBJRULE_TEXT_MAX];

    for (enum asp_knob_id id = 0; id < ASP_KNOB_COUNT; id++)
        hash = add_hash(hash, policy->resolved[id].value);
    for (enum asp_objkind_id kind = 0; kind < ASP_OBJ_KINDS; kind++) {
        const struct asp_objrules *all = &policy->objects[kind].all;

        for (uint32_t i = 0; i < all->n; i++) {
            struct asp_objrule rule = all->rule[i];

            rule.origin[0] = '\0';
            asp_objrule_print(&rule, text, sizeof(text));
            hash = add_hash(hash, text);
        }
    }
    snprintf(out, 17, "%016" PRIx64, hash);
}

void asp_policy_to_layout(const struct asp_policy *policy,
                          struct asp_layout *layout)
{
    char digest[17];

    asp_policy_digest(policy, digest);
    snprintf(layout->policy_digest, sizeof(layout->policy_digest), "%s",
             digest);
    for (enum asp_objkind_id kind = 0; kind < ASP_OBJ_KINDS; kind++)
        layout->rules[kind] = policy->objects[kind].all;
    for (enum asp_knob_id id = 0; id < ASP_KNOB_COUNT; id++)
        if (asp_knobs[id].flags & ASP_KNOB_TO_RUNTIME)
            (void) asp_knobs_set(&layout->knobs, id,
                                 policy->resolved[id].value); /* was checked */
}
