/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts that are nearly policies, always the same ones: what is refused is
 * refused with words, what is accepted is sound. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/mutate.h"
#include "policy.h"

static const char site_text[] = "version: 1\n"
                                "defaults: {mode: ghost}\n"
                                "rules:\n"
                                "  - match: {partition: [gpu*, fat]}\n"
                                "    set: {ghosts: 2}\n"
                                "  - match: {program: lu.*, nodes: \">=4\"}\n"
                                "    set: {pmix: off}\n"
                                "limits:\n"
                                "  ghosts: {min: 1, max: 4}\n"
                                "  pmix: {allow: [auto, off]}\n";

static const struct asp_mutate how = {
    .edits = 2, .span = 9, .bytes = " :,{}[]\n-#&*!|>'\"%9a"};

/* Whatever was accepted resolves to values that the schema accepts. */
static void assert_sound(struct asp_policy *policy)
{
    struct asp_facts facts = {
        .partition = "gpu1", .nodes = 5, .program = "lu.A"};
    struct asp_err err = {.text = ""};

    if (asp_policy_resolve(policy, &facts, &err)) {
        assert_true(err.text[0] != '\0');
        return;
    }
    for (enum asp_knob_id id = 0; id < ASP_KNOB_COUNT; id++) {
        char out[ASP_VALUE_MAX];

        assert_int_equal(
            asp_knob_check(id, asp_policy_text(policy, id), out, NULL), 0);
    }
}

static void fuzz(void **state)
{
    static const char job_text[] = "mode: ghost\nghosts: 2\nplacement:\n"
                                   "  spread: pack\n  share: yes\n"
                                   "idle: {spin_us: 10}\n"
                                   "windows:\n  - order: 2-3\n"
                                   "    epochs_used: [lock, fence]\n"
                                   "  - {name: a*, rma.balance: ops}\n"
                                   "communicators: [{size: 2-, p2p: all}]\n";
    static const char spec[] = "ghost:2,require,placement.spread=pack,"
                               "idle.spin_us=17,report=/tmp/x,pmix=off,"
                               "window=order:1-;no_locks:true;from:a%3A1,"
                               "communicator=order:2;p2p:large";
    static const char *const texts[] = {site_text, job_text, spec};
    uint32_t seed = 4711, accepted[3] = {0};

    (void) state;
    for (int i = 0; i < 12000; i++) {
        struct asp_policy *policy = asp_policy_create();
        struct asp_err err = {.text = ""};
        char text[1024];
        size_t len = strlen(texts[i % 3]);
        int rc;

        assert_non_null(policy);
        memcpy(text, texts[i % 3], len);
        len = asp_mutate(&how, text, len, sizeof(text) - 1, &seed);
        text[len] = '\0';
        if (i % 3 == 2)
            rc = asp_policy_add_spec(policy, text, ASP_LAYER_LINE, "x", &err);
        else
            rc = asp_policy_add_text(policy, "x", text, len,
                                     i % 3 ? ASP_POLICY_JOB : ASP_POLICY_SITE,
                                     &err);
        if (rc)
            assert_true(err.text[0] != '\0');
        else
            assert_sound(policy);
        accepted[i % 3] += !rc;
        asp_policy_destroy(policy);
    }
    for (int i = 0; i < 3; i++)
        assert_in_range(accepted[i], 50, 3950);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(fuzz)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
