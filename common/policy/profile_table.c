/* SPDX-License-Identifier: BSD-3-Clause */
/* The profile of a program carries along what its searches for collectives
 * found: beside the record app.json lies the table app.json.coll, which a run
 * with coll=tune reads at its start and writes at its end, unless the request
 * names tables itself. */
#include "priv.h"

#include <stdio.h>
#include <string.h>

static const char suffix[] = ".coll";

static bool is_free(const struct asp_policy *policy, enum asp_knob_id id,
                    const char *value)
{
    const struct asp_setting *setting = &policy->resolved[id];
    char buf[ASP_VALUE_MAX];

    return setting->layer == ASP_LAYER_BUILTIN && !setting->note[0] &&
           !asp_limit_apply(id, &policy->limits[id], value, buf);
}

static void take(struct asp_policy *policy, enum asp_knob_id id,
                 const char *value)
{
    struct asp_setting *setting = &policy->resolved[id];

    setting->chosen = true;
    snprintf(setting->value, sizeof(setting->value), "%s", value);
    snprintf(setting->origin, sizeof(setting->origin), "profile");
}

void asp_policy_profile_table(struct asp_policy *policy)
{
    const char *profile = asp_policy_text(policy, ASP_KNOB_PROFILE);
    int coll = asp_policy_word(policy, ASP_KNOB_COLL);
    char value[ASP_VALUE_MAX];

    if (strcmp(profile, "no") == 0 || coll == ASP_COLL_MODE_OFF ||
        strlen(profile) + sizeof(suffix) > sizeof(value))
        return;
    snprintf(value, sizeof(value), "%s%s", profile, suffix);
    if (!is_free(policy, ASP_KNOB_COLL_TABLE, value))
        return;
    take(policy, ASP_KNOB_COLL_TABLE, value);
    if (coll == ASP_COLL_MODE_TUNE &&
        is_free(policy, ASP_KNOB_COLL_SAVE, value))
        take(policy, ASP_KNOB_COLL_SAVE, value);
}
