/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "sample_interval.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { LONG_CALM = 4000 };

static void is(const struct aspx_sample_interval *interval, double ms)
{
    assert_int_equal((int) (interval->interval_s * 1e6 + 0.5),
                     (int) (ms * 1e3));
}

static void test_grows_to_its_bound(void **state)
{
    struct aspx_sample_interval interval;

    (void) state;
    aspx_sample_interval_init(&interval, 0.02, 0.1);
    is(&interval, 20);
    aspx_sample_interval_update(&interval, true);
    is(&interval, 40);
    aspx_sample_interval_update(&interval, false);
    is(&interval, 40);
    aspx_sample_interval_update(&interval, true);
    is(&interval, 80);
    for (int i = 0; i < 3; i++)
        aspx_sample_interval_update(&interval, true);
    is(&interval, 100);
}

static void test_shrinks_when_calm(void **state)
{
    struct aspx_sample_interval interval;
    int steps = 0;

    (void) state;
    aspx_sample_interval_init(&interval, 0.02, 0.1);
    aspx_sample_interval_update(&interval, true);
    while (interval.interval_s > 0.03 && steps++ < LONG_CALM)
        aspx_sample_interval_update(&interval, false);
    is(&interval, 20);
    assert_true(steps > 10);
    for (int i = 0; i < LONG_CALM; i++)
        aspx_sample_interval_update(&interval, false);
    is(&interval, 20);
}

/* Who turns back every now and then does not come down, however low the bound.
 */
static void test_stays_where_it_turns_back(void **state)
{
    struct aspx_sample_interval interval;

    (void) state;
    aspx_sample_interval_init(&interval, 0.02, 10);
    for (int i = 0; i < LONG_CALM; i++)
        aspx_sample_interval_update(&interval, i % 100 == 0);
    is(&interval, 10000);
}

static void test_bounds_in_any_order(void **state)
{
    struct aspx_sample_interval interval;

    (void) state;
    aspx_sample_interval_init(&interval, 0.05, 0.02);
    is(&interval, 20);
    aspx_sample_interval_update(&interval, true);
    is(&interval, 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grows_to_its_bound),
        cmocka_unit_test(test_shrinks_when_calm),
        cmocka_unit_test(test_stays_where_it_turns_back),
        cmocka_unit_test(test_bounds_in_any_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
