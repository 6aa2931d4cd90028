/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules by release: a row for each release at which one changes, and the one
 * before it. */
#include "slurm_rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void test_rules(void **state)
{
    static const struct {
        const char *release;
        bool has[ASP_SLURM_NRULES]; /* in the order of the enum */
    } rows[] = {
        {"22.05.0", {false, true, true}},  {"22.05.8", {false, true, true}},
        {"23.02.7", {false, true, true}},  {"23.11.0", {true, true, true}},
        {"24.05.8", {true, true, true}},   {"24.11.0", {true, true, true}},
        {"24.11.1", {true, false, false}}, {"24.11.5", {true, false, false}},
        {"25.05.0", {true, false, false}}, {"26.05.1", {true, false, false}},
    };

    (void) state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint32_t release = 0;

        assert_int_equal(asp_slurm_release_parse(rows[i].release, &release), 0);
        for (enum asp_slurm_rule rule = 0; rule < ASP_SLURM_NRULES; rule++)
            assert_int_equal(asp_slurm_has(release, rule), rows[i].has[rule]);
    }
    for (enum asp_slurm_rule rule = 0; rule < ASP_SLURM_NRULES; rule++)
        assert_int_equal(asp_slurm_has(0, rule), rows[0].has[rule]);
}

static void test_parse(void **state)
{
    static const char *const wrong[] = {"",         "24",       "24.11",
                                        "24.11.",   "24.11.x",  "24.-1.5",
                                        "v24.11.5", "24.11.256"};
    uint32_t release = 1;

    (void) state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_int_equal(asp_slurm_release_parse(wrong[i], &release), -1);
    assert_int_equal(release, 1);
    assert_int_equal(asp_slurm_release_parse("22.05.8", &release), 0);
    assert_int_equal(release, 0x160508);
    assert_int_equal(asp_slurm_release_parse("24.11.0-0rc1", &release), 0);
    assert_int_equal(release, ASP_SLURM_RELEASE(24, 11, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_parse),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
