/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "idle_hint.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { MS = 1000, BEGIN = 7 * MS };

static void test_as_the_leader_says(void **state)
{
    struct aspx_unwanted u = {0};

    (void) state;
    assert_false(aspx_unwanted_sure(&u, BEGIN));
    aspx_unwanted_say(&u, true, BEGIN);
    assert_true(aspx_unwanted_sure(&u, BEGIN));
    aspx_unwanted_say(&u, true, BEGIN + 100 * MS);
    assert_int_equal(u.since_us, BEGIN);
    aspx_unwanted_say(&u, false, BEGIN + 200 * MS);
    assert_false(aspx_unwanted_sure(&u, BEGIN + 200 * MS));
}

/* Calls every `step` ms from `from` to `to`; is it sure after the last? */
static bool after_calls(int from, int to, int step)
{
    struct aspx_unwanted u = {0};
    int ms = from;

    aspx_unwanted_say(&u, true, BEGIN);
    for (; ms <= to; ms += step)
        aspx_unwanted_called(&u, (uint64_t) (BEGIN + ms * MS));
    return aspx_unwanted_sure(&u, (uint64_t) (BEGIN + (ms - step) * MS));
}

static void test_who_has_not_heard_does_not_count(void **state)
{
    (void) state;
    assert_true(after_calls(1, 20, 1));
}

static void test_once_is_no_reason(void **state)
{
    (void) state;
    assert_true(after_calls(100, 120, 1));
    assert_true(after_calls(100, 100, 1));
}

static void test_calls_without_end(void **state)
{
    (void) state;
    assert_false(after_calls(100, 121, 1));
    assert_false(after_calls(100, 5000, 10));
}

static void test_again(void **state)
{
    (void) state;
    assert_false(after_calls(100, 1000, 900)); /* within a second */
    assert_true(after_calls(100, 1200, 1100)); /* each time the first */
}

static void test_it_passes(void **state)
{
    struct aspx_unwanted u = {0};

    (void) state;
    aspx_unwanted_say(&u, true, BEGIN);
    aspx_unwanted_called(&u, BEGIN + 100 * MS);
    aspx_unwanted_called(&u, BEGIN + 200 * MS);
    assert_false(aspx_unwanted_sure(&u, BEGIN + 1199 * MS));
    assert_true(aspx_unwanted_sure(&u, BEGIN + 1200 * MS));
    /* another phase does not make it forgotten */
    aspx_unwanted_called(&u, BEGIN + 1300 * MS);
    aspx_unwanted_called(&u, BEGIN + 1400 * MS);
    aspx_unwanted_say(&u, false, BEGIN + 1500 * MS);
    aspx_unwanted_say(&u, true, BEGIN + 1600 * MS);
    assert_false(aspx_unwanted_sure(&u, BEGIN + 1600 * MS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_the_leader_says),
        cmocka_unit_test(test_who_has_not_heard_does_not_count),
        cmocka_unit_test(test_once_is_no_reason),
        cmocka_unit_test(test_calls_without_end),
        cmocka_unit_test(test_again),
        cmocka_unit_test(test_it_passes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
