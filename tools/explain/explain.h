/* SPDX-License-Identifier: BSD-3-Clause */
/* The subcommands about requests and plans, and what they print alike. */
#ifndef ASPEN_TOOLS_EXPLAIN_EXPLAIN_H
#define ASPEN_TOOLS_EXPLAIN_EXPLAIN_H

#include "common/policy/policy.h"

#include <stdio.h>

int aspt_request(int argc, char **argv);
int aspt_check_policy(int argc, char **argv);
int aspt_explain(int argc, char **argv);

/* `explain coll OP...`: argv[0] is "coll". */
int aspt_explain_coll(int argc, char **argv);

/* `explain --extra WORD...`: takes the words only. */
int aspt_extra(int nwords, char **words);

/* All knobs with their values and where each comes from.
 * tools/explain/settings.c. */
void aspt_print_settings(FILE *to, const struct asp_policy *policy);

/* The table of base/wait_table.h. tools/explain/waits.c. */
void aspt_print_waits(FILE *to);

/* The schema: for --async-progress=help, and as part of aspen-policy(5).
 * tools/explain/knobs.c. */
void aspt_print_knobs(FILE *to);
void aspt_print_knobs_man(FILE *to);

/* Words of text, wrapped and indented; text for troff. tools/explain/knobs.c.
 */
void aspt_print_wrapped(FILE *to, const char *text);
void aspt_put_troff(FILE *to, const char *text);

/* Rules for single objects: a table of those of a policy or a layout, nothing
 * when there are none; and their schema, for the two above.
 * tools/explain/objects.c. */
void aspt_print_policy_rules(FILE *to, const struct asp_policy *policy);
void aspt_print_layout_rules(FILE *to, const struct asp_layout *layout);
void aspt_print_objkeys(FILE *to);
void aspt_print_objkeys_man(FILE *to);

#endif
