/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules for windows as a table, and their schema in words. */
#include "config.h"

#include "explain.h"

void aspt_print_windows(FILE *to, const struct asp_winrules *rules)
{
    if (rules->n == 0)
        return;
    fputs("rules for windows (all that match hold, later ones win):\n", to);
    for (uint32_t i = 0; i < rules->n; i++) {
        char match[ASP_ERR_TEXT_MAX], set[ASP_ERR_TEXT_MAX];

        fprintf(to, "  %s: %s: %s\n", rules->rule[i].origin,
                asp_winrule_matchers(&rules->rule[i], match, sizeof(match)),
                asp_winrule_values(&rules->rule[i], set, sizeof(set)));
    }
}

static const struct {
    const char *name, *takes, *help;
} matchers[] = {
    {"order", "N, N-M or N-", "the Nth window of the job, from 1"},
    {"site", "PATTERN",
     "where the program made it, as the report tells: OBJECT+0xOFFSET or "
     "OBJECT:FUNCTION"},
    {"name", "PATTERN",
     "what MPI_Win_set_name calls it; only for keys marked with *, since a "
     "window has no name yet when it is made"},
};

enum { MATCHERS = sizeof(matchers) / sizeof(matchers[0]) };

static const char *mark(const struct asp_winkey *key)
{
    return key->flags & ASP_WIN_LATER ? " *" : "";
}

void aspt_print_winkeys(FILE *to)
{
    fputs("\nIn policy files, windows: is a list of rules for single windows."
          "\nA rule matches by\n\n",
          to);
    for (size_t i = 0; i < MATCHERS; i++) {
        fprintf(to, "  %s: %s\n", matchers[i].name, matchers[i].takes);
        aspt_print_wrapped(to, matchers[i].help);
    }
    fputs("\nand sets some of\n\n", to);
    for (enum asp_winkey_id id = 0; id < ASP_WINKEY_COUNT; id++) {
        const struct asp_winkey *key = &asp_winkeys[id];

        fprintf(to, "  %s: %s%s%s%s%s\n", key->name,
                key->type == ASP_WIN_LIST ? "some of " : "", key->values,
                key->alias[0] ? ", also " : "", key->alias, mark(key));
        aspt_print_wrapped(to, key->help);
    }
}

void aspt_print_winkeys_man(FILE *to)
{
    fputs(".SH RULES FOR WINDOWS\n", to);
    for (size_t i = 0; i < MATCHERS; i++) {
        fprintf(to, ".TP\n\\fB%s\\fR: ", matchers[i].name);
        aspt_put_troff(to, matchers[i].takes);
        fputs("\n", to);
        aspt_put_troff(to, matchers[i].help);
        fputs(".\n", to);
    }
    for (enum asp_winkey_id id = 0; id < ASP_WINKEY_COUNT; id++) {
        const struct asp_winkey *key = &asp_winkeys[id];

        fprintf(to, ".TP\n\\fB%s\\fR: %s", key->name,
                key->type == ASP_WIN_LIST ? "some of " : "");
        aspt_put_troff(to, key->values);
        if (key->alias[0])
            fprintf(to, " (also \\fB%s\\fR)", key->alias);
        fprintf(to, "%s\n", mark(key));
        aspt_put_troff(to, key->help);
        fputs(".\n", to);
    }
}
