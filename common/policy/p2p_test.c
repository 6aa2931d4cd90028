/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages carried by ghosts: what they cannot stand beside, and rules for
 * single communicators. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "try.h"

/* What was left out is told, or is an error where the request says require. */
static void end_with_note(struct asp_policy *policy, size_t row,
                          const char *note)
{
    char notes[ASP_ERR_TEXT_MAX];

    asp_policy_notes(policy, notes, sizeof(notes));
    if (note ? !strstr(notes, note) : notes[0] != '\0')
        fail_msg("row %zu: %s", row, notes);
    asp_policy_add_spec(policy, "require", ASP_LAYER_ENV, "env", NULL);
    assert_int_equal(asp_policy_resolve(policy, NULL, NULL), note ? -1 : 0);
    asp_policy_destroy(policy);
}

/* Ghosts carry messages where there are some and no offload threads; the
 * stronger request holds, and a request made in vain is told. */
static void messages_by_ghosts(void **state)
{
    static const struct {
        const char *site, *job, *line, *p2p, *offload, *note;
    } rows[] = {
        {NULL, NULL, "ghost:1,p2p=all", "all", "no", NULL},
        {NULL, "p2p: large\n", "ghost", "large", "no", NULL},
        {NULL, NULL, "thread,p2p=all", "off", "no",
         "p2p (line) is left out: mode thread has no ghosts"},
        {NULL, NULL, "offload,p2p=all", "off", "no", "mode offload has no"},
        {NULL, "p2p: all\n", "off", "off", "no",
         "p2p (job.yaml:1:6) is left out: mode off has no ghosts"},
        {NULL, "p2p: all\n", "ghost:1,offload", "off", "yes",
         "p2p (job.yaml:1:6) is left out: offload threads carry messages"},
        {NULL, "{offload: yes, p2p: all}\n", "ghost", "off", "yes",
         "p2p (job.yaml:1:21) is left out"},
        {NULL, "offload: yes\n", "ghost:1,p2p=all", "all", "no",
         "offload (job.yaml:1:10) is left out: ghosts carry messages"},
        {NULL, "offload: yes\n", "ghost:1,p2p=off", "off", "yes", NULL},
        {"p2p: all", NULL, "ghost:1,offload", "off", "yes", NULL},
        {"offload: yes", NULL, "ghost:1,p2p=all", "all", "no", NULL},
        {"p2p: all", NULL, "thread", "off", "no", NULL},
    };

    (void) state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct asp_policy *policy = create();
        char site[256];

        snprintf(site, sizeof(site), "version: 1\ndefaults: {%s}\n",
                 rows[i].site ? rows[i].site : "");
        add(policy, ASP_POLICY_SITE, site);
        if (rows[i].job)
            add(policy, ASP_POLICY_JOB, rows[i].job);
        assert_int_equal(asp_policy_add_spec(policy, rows[i].line,
                                             ASP_LAYER_LINE, "line", NULL),
                         0);
        resolve(policy, NULL);
        assert_string_equal(asp_policy_text(policy, ASP_KNOB_P2P), rows[i].p2p);
        assert_string_equal(asp_policy_text(policy, ASP_KNOB_OFFLOAD),
                            rows[i].offload);
        end_with_note(policy, i, rows[i].note);
    }
}

/* What rules for communicators say of it holds under the same conditions. */
static void messages_by_rule(void **state)
{
    static const struct {
        const char *line, *values, *note;
    } rows[] = {
        {"ghost", "p2p=all", NULL},
        {"ghost,offload", "p2p=off",
         "p2p (job.yaml:1:17) is left out: offload threads carry messages"},
        {"thread", "p2p=off", "mode thread has no ghosts"},
        {"thread,communicator=p2p:off", "p2p=off", "(job.yaml:1:17)"},
    };

    (void) state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct asp_policy *policy = create();
        char values[ASP_VALUE_MAX];

        add(policy, ASP_POLICY_JOB, "communicators: [{p2p: all}]\n");
        asp_policy_add_spec(policy, rows[i].line, ASP_LAYER_LINE, "line", NULL);
        resolve(policy, NULL);
        assert_string_equal(
            asp_objrule_values(asp_policy_objects(policy, ASP_OBJ_COMM)->rule,
                               values, sizeof(values)),
            rows[i].values);
        end_with_note(policy, i, rows[i].note);
    }
}

/* As those for windows, beside them; what the job has travels. */
static void communicator_rules(void **state)
{
    static const char site[] = "version: 1\n"
                               "rules:\n"
                               "  - match: {program: lu}\n"
                               "    communicators: [{size: 2-, p2p: all}]\n"
                               "communicators: [{exact_length: no}]\n"
                               "limits: {p2p: {allow: [off, all]}}\n";
    static const char job[] = "mode: ghost\n"
                              "communicators:\n"
                              "  - {name: MPI_COMM_WORLD, p2p: large}\n"
                              "windows: [{order: 1, no_locks: yes}]\n";
    static const char after[] = "ghost:1,window=order:1;no_locks:true;"
                                "from:job.yaml%3A4%3A11,"
                                "communicator=name:MPI_COMM_WORLD;p2p:off;"
                                "from:job.yaml%3A3%3A5";
    struct asp_facts facts = {.program = "/opt/lu"};
    struct asp_policy *policy = create();
    const struct asp_objrules *rules = asp_policy_objects(policy, ASP_OBJ_COMM);
    struct asp_layout *layout = calloc(1, sizeof(*layout));
    char buf[1024], line[ASP_SPEC_MAX + 1];

    (void) state;
    assert_non_null(layout);
    add(policy, ASP_POLICY_SITE, site);
    add(policy, ASP_POLICY_JOB, job);
    resolve(policy, &facts);
    assert_int_equal(rules->n, 3);
    assert_string_equal(asp_objrule_values(&rules->rule[0], buf, sizeof(buf)),
                        "exact_length=false");
    assert_string_equal(asp_objrule_matchers(&rules->rule[1], buf, sizeof(buf)),
                        "size 2-");
    asp_policy_notes(policy, buf, sizeof(buf));
    assert_non_null(strstr(buf, "p2p large (job.yaml:3:5) became off"));
    asp_policy_canonical(policy, line, sizeof(line), NULL);
    assert_string_equal(line, after);
    asp_policy_to_layout(policy, layout);
    assert_int_equal(layout->rules[ASP_OBJ_WINDOW].n, 1);
    assert_int_equal(layout->rules[ASP_OBJ_COMM].n, 3);
    asp_layout_destroy(layout);
    asp_policy_destroy(policy);
    policy = create();
    assert_int_equal(
        asp_policy_add_spec(policy, after, ASP_LAYER_LINE, "line", NULL), 0);
    resolve(policy, NULL);
    asp_policy_canonical(policy, line, sizeof(line), NULL);
    assert_string_equal(line, after);
    asp_policy_destroy(policy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_by_ghosts),
        cmocka_unit_test(messages_by_rule),
        cmocka_unit_test(communicator_rules),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
