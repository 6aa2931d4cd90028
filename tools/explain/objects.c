/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules for single objects as a table, and their schema in words. */
#include "config.h"

#include "explain.h"

#include <ctype.h>

static void print_rules(FILE *to, enum asp_objkind_id kind,
                        const struct asp_objrules *rules)
{
    if (rules->n == 0)
        return;
    fprintf(to, "rules for %s (all that match hold, later ones win):\n",
            asp_objkind(kind)->section);
    for (uint32_t i = 0; i < rules->n; i++) {
        char match[ASP_ERR_TEXT_MAX], set[ASP_ERR_TEXT_MAX];

        fprintf(to, "  %s: %s: %s\n", rules->rule[i].origin,
                asp_objrule_matchers(&rules->rule[i], match, sizeof(match)),
                asp_objrule_values(&rules->rule[i], set, sizeof(set)));
    }
}

void aspt_print_policy_rules(FILE *to, const struct asp_policy *policy)
{
    for (enum asp_objkind_id kind = 0; kind < ASP_OBJ_KINDS; kind++)
        print_rules(to, kind, asp_policy_objects(policy, kind));
}

void aspt_print_layout_rules(FILE *to, const struct asp_layout *layout)
{
    for (enum asp_objkind_id kind = 0; kind < ASP_OBJ_KINDS; kind++)
        print_rules(to, kind, &layout->rules[kind]);
}

static const char *mark(const struct asp_objkey *key)
{
    return key->flags & ASP_OBJ_LATER ? " *" : "";
}

static void print_schema(FILE *to, const struct asp_objkind *kind)
{
    fprintf(to,
            "\nIn policy files, %s: is a list of rules for single %s.\nA rule "
            "matches by\n\n",
            kind->section, kind->section);
    for (size_t i = 0; i < kind->nmatchers; i++) {
        fprintf(to, "  %s: %s\n", kind->matchers[i].name,
                kind->matchers[i].takes);
        aspt_print_wrapped(to, kind->matchers[i].help);
    }
    fputs("\nand sets some of\n\n", to);
    for (size_t k = 0; k < kind->nkeys; k++) {
        const struct asp_objkey *key = &kind->keys[k];

        fprintf(to, "  %s: %s%s%s%s%s\n", key->name,
                key->type == ASP_OBJ_LIST ? "some of " : "", key->values,
                key->alias[0] ? ", also " : "", key->alias, mark(key));
        aspt_print_wrapped(to, key->help);
    }
}

void aspt_print_objkeys(FILE *to)
{
    for (enum asp_objkind_id kind = 0; kind < ASP_OBJ_KINDS; kind++)
        print_schema(to, asp_objkind(kind));
}

static void print_schema_man(FILE *to, const struct asp_objkind *kind)
{
    fputs(".SH RULES FOR ", to);
    for (const char *c = kind->section; *c; c++)
        fputc(toupper((unsigned char) *c), to);
    fputs("\n", to);
    for (size_t i = 0; i < kind->nmatchers; i++) {
        fprintf(to, ".TP\n\\fB%s\\fR: ", kind->matchers[i].name);
        aspt_put_troff(to, kind->matchers[i].takes);
        fputs("\n", to);
        aspt_put_troff(to, kind->matchers[i].help);
        fputs(".\n", to);
    }
    for (size_t k = 0; k < kind->nkeys; k++) {
        const struct asp_objkey *key = &kind->keys[k];

        fprintf(to, ".TP\n\\fB%s\\fR: %s", key->name,
                key->type == ASP_OBJ_LIST ? "some of " : "");
        aspt_put_troff(to, key->values);
        if (key->alias[0])
            fprintf(to, " (also \\fB%s\\fR)", key->alias);
        fprintf(to, "%s\n", mark(key));
        aspt_put_troff(to, key->help);
        fputs(".\n", to);
    }
}

void aspt_print_objkeys_man(FILE *to)
{
    for (enum asp_objkind_id kind = 0; kind < ASP_OBJ_KINDS; kind++)
        print_schema_man(to, asp_objkind(kind));
}
