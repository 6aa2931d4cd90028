/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules for windows: what they match and set, and what contradicts itself. */
#include "winrule.h"

#include <errno.h>
#include <string.h>

_Static_assert((int) ASP_WINKEY_COUNT <= (int) ASP_OBJKEYS_MAX, "keys");

#define ASP_WINKEY_ROW(ID, NAME, ALIAS, TYPE, VALUES, FLAGS, HELP)             \
    [ASP_WIN_##ID] = {NAME, ALIAS, ASP_OBJ_##TYPE, VALUES, FLAGS, HELP},

const struct asp_objkey asp_winkeys[ASP_WINKEY_COUNT] = {
    ASP_WINKEYS(ASP_WINKEY_ROW)};

static const struct asp_objmatcher matchers[] = {
    {"order", "N, N-M or N-", "the Nth window of the job, from 1"},
    {"site", "PATTERN",
     "where the program made it, as the report tells: OBJECT+0xOFFSET or "
     "OBJECT:FUNCTION"},
    {"name", "PATTERN",
     "what MPI_Win_set_name calls it; only for keys marked with *, since a "
     "window has no name yet when it is made"},
};

/* Can it be set for a window that is in use? It cannot become MPI's own. */
static bool comes_late(const struct asp_objrule *rule, enum asp_winkey_id id)
{
    return !rule->value[id][0] || (asp_winkeys[id].flags & ASP_OBJ_LATER &&
                                   strcmp(rule->value[id], "native") != 0);
}

/* Names come when the window is in use: see docs/design/window-rules.md. */
static int check_name(const struct asp_objrule *rule, struct asp_err *err)
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

static int check(const struct asp_objrule *rule, struct asp_err *err)
{
    const char *config = rule->value[ASP_WIN_ASYNC_CONFIG];
    bool off = strcmp(config, "off") == 0 || strcmp(config, "native") == 0;

    for (enum asp_winkey_id id = 0; off && id < ASP_WINKEY_COUNT; id++)
        if (rule->value[id][0] && asp_winkeys[id].flags & ASP_OBJ_KNOB)
            return asp_errf(err, EINVAL,
                            "%s says nothing of a window that async_config: "
                            "%s leaves to MPI",
                            asp_winkeys[id].name, config);
    if (strcmp(rule->value[ASP_WIN_NO_LOCKS], "true") == 0 &&
        strstr(rule->value[ASP_WIN_EPOCHS_USED], "lock"))
        return asp_errf(err, EINVAL,
                        "no_locks: true contradicts epochs_used: "
                        "%s",
                        rule->value[ASP_WIN_EPOCHS_USED]);
    return rule->name[0] ? check_name(rule, err) : 0;
}

const struct asp_objkind asp_window_kind = {
    .word = "window",
    .section = "windows",
    .matchers = matchers,
    .nmatchers = sizeof(matchers) / sizeof(matchers[0]),
    .keys = asp_winkeys,
    .nkeys = ASP_WINKEY_COUNT,
    .check = check,
};
