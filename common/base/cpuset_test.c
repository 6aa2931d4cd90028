/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit tests of cpuset.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cpuset.h"

static void round_trip(void **state)
{
    static const char *const lists[] = {"", "0", "0-3,8", "63-64", "5,7,1023"};

    (void) state;
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        struct asp_cpuset set;
        char text[64];

        assert_int_equal(asp_cpuset_parse(lists[i], strlen(lists[i]), &set), 0);
        assert_int_equal(asp_cpuset_print(&set, text, sizeof(text)),
                         strlen(lists[i]));
        assert_string_equal(text, lists[i]);
    }
}

static void refuses(void **state)
{
    static const char *const lists[] = {",",  "0,", "1024", "3-1", "-1",
                                        "0-", "a",  "0 1",  "0,,1"};
    struct asp_cpuset set = {{42}};

    (void) state;
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        assert_int_equal(asp_cpuset_parse(lists[i], strlen(lists[i]), &set),
                         -1);
    assert_int_equal(set.word[0], 42);
}

static void counts(void **state)
{
    struct asp_cpuset set = {{0}};

    (void) state;
    asp_cpuset_add(&set, 0);
    asp_cpuset_add(&set, 64);
    asp_cpuset_add(&set, 5000);
    assert_int_equal(asp_cpuset_count(&set), 2);
    assert_int_equal(asp_cpuset_next(&set, 1), 64);
    assert_int_equal(asp_cpuset_next(&set, 65), -1);
}

static void too_small(void **state)
{
    struct asp_cpuset set = {{0x15}};
    char text[4];

    (void) state;
    assert_int_equal(asp_cpuset_print(&set, text, sizeof(text)), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip),
        cmocka_unit_test(refuses),
        cmocka_unit_test(counts),
        cmocka_unit_test(too_small),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
