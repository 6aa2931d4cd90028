/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "yield_backoff.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)

static void test_who_is_not_late_goes_on(void **state)
{
    struct aspx_give_way way = {0};

    (void) state;
    for (int i = 0; i < 100; i++)
        assert_true(aspx_give_way(&way) || way.not_before_ns);
    way = (struct aspx_give_way){0};
    aspx_give_way_took(&way, 10 * MS, 10 * MS + ASPX_GIVE_WAY_LATE_NS);
    assert_int_equal(way.not_before_ns, 0);
}

static void test_who_is_late_stops_for_long(void **state)
{
    struct aspx_give_way way = {0};

    (void) state;
    aspx_give_way_took(&way, 10 * MS, 14 * MS);
    assert_int_equal(way.not_before_ns, 14 * MS + ASPX_GIVE_WAY_PART * 4 * MS);
}

static void test_and_begins_anew(void **state)
{
    uint64_t now = aspx_clock_ns(CLOCK_MONOTONIC);
    struct aspx_give_way way = {.not_before_ns = now + 50 * MS};
    const struct timespec longer = {.tv_nsec = 60 * (long) MS};

    (void) state;
    if (aspx_clock_ns(CLOCK_MONOTONIC) < now + 10 * MS)
        assert_false(aspx_give_way(&way));
    assert_int_equal(way.not_before_ns, now + 50 * MS);
    nanosleep(&longer, NULL);
    assert_true(aspx_give_way(&way));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_who_is_not_late_goes_on),
        cmocka_unit_test(test_who_is_late_stops_for_long),
        cmocka_unit_test(test_and_begins_anew),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
