/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules for communicators: what they match and set, and what they say of one.
 */
#include "commrule.h"

#include <errno.h>
#include <string.h>

_Static_assert((int) ASP_COMMKEY_COUNT <= (int) ASP_OBJKEYS_MAX, "keys");

#define ASP_COMMKEY_ROW(ID, NAME, ALIAS, TYPE, VALUES, FLAGS, HELP)            \
    [ASP_COMM_##ID] = {NAME, ALIAS, ASP_OBJ_##TYPE, VALUES, FLAGS, HELP},

static const struct asp_objkey keys[ASP_COMMKEY_COUNT] = {
    ASP_COMMKEYS(ASP_COMMKEY_ROW)};

static const struct asp_objmatcher matchers[] = {
    {"order", "N, N-M or N-",
     "the Nth communicator that the program makes, from 1"},
    {"size", "N, N-M or N-", "the number of its ranks"},
    {"site", "PATTERN",
     "where the program made it, in all of its ranks: OBJECT+0xOFFSET or "
     "OBJECT:FUNCTION"},
    {"name", "PATTERN",
     "MPI_COMM_WORLD or MPI_COMM_SELF; others have no name yet when they are "
     "made"},
};

/* Those that have their names from the start, in all ranks. */
static bool names_predefined(const struct asp_objrule *rule)
{
    return asp_objrule_name_holds(rule, "MPI_COMM_WORLD") ||
           asp_objrule_name_holds(rule, "MPI_COMM_SELF");
}

/* Who carries a message is decided when its communicator is made, by all ranks
 * alike: see docs/design/window-rules.md. */
static int check(const struct asp_objrule *rule, struct asp_err *err)
{
    if (!names_predefined(rule))
        return asp_errf(err, EINVAL,
                        "name: \"%s\": what holds for a communicator is "
                        "decided when it is made, before MPI_Comm_set_name "
                        "gives it a name: match by order:, size: or site:",
                        rule->name);
    if (rule->name[0] && (rule->order.first || rule->site[0]))
        return asp_errf(err, EINVAL,
                        "name: is of communicators that the program does not "
                        "make: they have neither order: nor site:");
    return 0;
}

const struct asp_objkind asp_comm_kind = {
    .word = "communicator",
    .section = "communicators",
    .matchers = matchers,
    .nmatchers = sizeof(matchers) / sizeof(matchers[0]),
    .keys = keys,
    .nkeys = ASP_COMMKEY_COUNT,
    .check = check,
};

uint32_t asp_commrules_missed(const struct asp_objrules *rules,
                              const char *place, const char *function)
{
    uint32_t missed = 0;

    for (uint32_t r = 0; r < rules->n; r++)
        if (!asp_objrule_site_holds(&rules->rule[r], place, function))
            missed |= UINT32_C(1) << r;
    return missed;
}

static bool holds_for(const struct asp_objrule *rule,
                      const struct asp_comm_made *made)
{
    return asp_objrange_has(rule->order, made->order) &&
           asp_objrange_has(rule->size, made->size) &&
           asp_objrule_name_holds(rule, made->name);
}

struct asp_comm_said asp_commrules_ask(const struct asp_objrules *rules,
                                       const struct asp_comm_made *made)
{
    struct asp_comm_said said = {.p2p = -1, .exact_length = -1};
    const struct asp_objrule *p2p, *exact;

    for (uint32_t r = 0; r < rules->n; r++)
        if (!(made->missed >> r & 1) && holds_for(&rules->rule[r], made))
            said.holds |= UINT32_C(1) << r;
    p2p = asp_objrules_last(rules, said.holds, ASP_COMM_P2P);
    exact = asp_objrules_last(rules, said.holds, ASP_COMM_EXACT_LENGTH);
    if (p2p)
        said.p2p = asp_knob_word(ASP_KNOB_P2P, p2p->value[ASP_COMM_P2P]);
    if (exact)
        said.exact_length = asp_knob_bool(exact->value[ASP_COMM_EXACT_LENGTH]);
    return said;
}
