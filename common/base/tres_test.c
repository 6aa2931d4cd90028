/* SPDX-License-Identifier: BSD-3-Clause */
#include "tres.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void test_texts(void **state)
{
    static const struct {
        const char *text;
        uint32_t cpus;
        bool others;
        const char *with_9, *without;
    } rows[] = {
        {"cpu=4", 4, false, "cpu=9", ""},
        {"cpu:4", 4, false, "cpu:9", ""},
        {"cpu=4,gres/gpu=1", 4, true, "cpu=9,gres/gpu=1", "gres/gpu=1"},
        {"gres/gpu:a100=1,cpu=12", 12, true, "gres/gpu:a100=1,cpu=9",
         "gres/gpu:a100=1"},
        {"gres/gpu=1", 0, true, "gres/gpu=1", "gres/gpu=1"},
        {"cpus=4", 0, true, "cpus=4", "cpus=4"},
        {"cpu=x", 0, true, "cpu=9", ""},
        {"", 0, false, "", ""},
    };
    char buf[64], tiny[4];
    bool others;

    (void) state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(asp_tres_cpus(rows[i].text, &others), rows[i].cpus);
        assert_int_equal(others, rows[i].others);
        assert_true(asp_tres_set_cpus(rows[i].text, 9, buf, sizeof(buf)) >= 0);
        assert_string_equal(buf, rows[i].with_9);
        assert_true(asp_tres_set_cpus(rows[i].text, 0, buf, sizeof(buf)) >= 0);
        assert_string_equal(buf, rows[i].without);
    }
    assert_int_equal(asp_tres_set_cpus("cpu=4", 9, tiny, sizeof(tiny)), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_texts)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
