/* SPDX-License-Identifier: BSD-3-Clause */
/* Who carries the messages between ranks: ghosts (p2p), where the mode has
 * some, or offload threads. Both would match the same receives, so of two
 * requests the stronger one holds. */
#include "config.h"

#include "common/rules/commrule.h"
#include "priv.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Why ghosts carry no messages, or NULL. */
static const char *find_obstacle(const struct asp_policy *policy,
                                 char buf[ASP_NAME_MAX])
{
    enum asp_mode mode = asp_policy_mode(policy);

    if (mode == ASP_MODE_GHOST)
        return asp_policy_bool(policy, ASP_KNOB_OFFLOAD)
                   ? "offload threads carry messages"
                   : NULL;
    snprintf(buf, ASP_NAME_MAX, "mode %s has no ghosts", asp_mode_name(mode));
    return buf;
}

static void leave_out(struct asp_policy *policy, enum asp_knob_id id,
                      const char *value, const char *why)
{
    struct asp_setting *setting = &policy->resolved[id];
    char origin[ASP_NAME_MAX];

    snprintf(origin, sizeof(origin), "%.60s", setting->origin);
    strcpy(setting->value, value);
    setting->note[0] = '\0';
    if (setting->layer >= ASP_LAYER_JOB) /* a site only proposes */
        snprintf(setting->note, sizeof(setting->note),
                 "%s (%s) is left out: %s", asp_knobs[id].name, origin, why);
}

static void leave_out_rules(struct asp_policy *policy, const char *why)
{
    struct asp_policy_objects *objects = &policy->objects[ASP_OBJ_COMM];

    for (uint32_t i = 0; i < objects->all.n; i++) {
        struct asp_objrule *rule = &objects->all.rule[i];
        char *value = rule->value[ASP_COMM_P2P];

        if (!value[0] || strcmp(value, "off") == 0)
            continue;
        strcpy(value, "off");
        if (i >= objects->nsite)
            snprintf(objects->note, sizeof(objects->note),
                     "p2p (%.60s) is left out: %s", rule->origin, why);
    }
}

/* What was left out that the job asked for, or NULL. Under require a note that
 * a limit left has ended it all before. */
static const char *find_note(const struct asp_policy *policy)
{
    const char *const notes[] = {
        policy->resolved[ASP_KNOB_P2P].note,
        policy->resolved[ASP_KNOB_OFFLOAD].note,
        policy->objects[ASP_OBJ_COMM].note,
    };

    for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++)
        if (notes[i][0])
            return notes[i];
    return NULL;
}

int asp_policy_p2p(struct asp_policy *policy, struct asp_err *err)
{
    const struct asp_setting *p2p = &policy->resolved[ASP_KNOB_P2P];
    const struct asp_setting *offload = &policy->resolved[ASP_KNOB_OFFLOAD];
    bool asked = asp_policy_word(policy, ASP_KNOB_P2P) != ASP_P2P_OFF;
    char buf[ASP_NAME_MAX];
    const char *why, *note = NULL;

    if (asked && asp_policy_mode(policy) == ASP_MODE_GHOST &&
        asp_policy_bool(policy, ASP_KNOB_OFFLOAD) &&
        p2p->layer > offload->layer)
        leave_out(policy, ASP_KNOB_OFFLOAD, "no",
                  "ghosts carry messages (p2p)");
    why = find_obstacle(policy, buf);
    if (why && asked)
        leave_out(policy, ASP_KNOB_P2P, "off", why);
    if (why)
        leave_out_rules(policy, why);
    if (asp_policy_bool(policy, ASP_KNOB_REQUIRE))
        note = find_note(policy);
    return note ? asp_errf(err, EPERM, "%s, and the request says require", note)
                : 0;
}
