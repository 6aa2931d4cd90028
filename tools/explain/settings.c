/* SPDX-License-Identifier: BSD-3-Clause */
/* Resolved knobs as a table: value, source, and what a limit did. */
#include "config.h"

#include "explain.h"

#include <string.h>

enum { NAME_WIDTH = 18, VALUE_WIDTH = 12 };

static void print_setting(FILE *to, enum asp_knob_id id,
                          const struct asp_setting *setting)
{
    const char *layer = asp_layer_name(setting->layer);

    fprintf(to, "  %-*s %-*s %s", NAME_WIDTH, asp_knobs[id].name, VALUE_WIDTH,
            setting->value, layer);
    if (setting->origin[0] && strcmp(setting->origin, layer) != 0) {
        size_t used = 2 + NAME_WIDTH + 1 + VALUE_WIDTH + 1 + strlen(layer);

        if (used + strlen(setting->origin) + 3 > 80)
            fprintf(to, "\n  %*s", NAME_WIDTH + VALUE_WIDTH + 1, "");
        fprintf(to, " (%s)", setting->origin);
    }
    fputc('\n', to);
    if (setting->note[0])
        fprintf(to, "  %*s %s\n", NAME_WIDTH, "", setting->note);
}

void aspt_print_settings(FILE *to, const struct asp_policy *policy)
{
    char digest[17];

    asp_policy_digest(policy, digest);
    fprintf(to, "policy %s\n", digest);
    for (enum asp_knob_id id = 0; id < ASP_KNOB_COUNT; id++)
        print_setting(to, id, asp_policy_setting(policy, id));
    aspt_print_policy_rules(to, policy);
}
