/* SPDX-License-Identifier: BSD-3-Clause */
/* Spin, yield or block: by the clock of the test. */
#include "config.h"

#include "backoff.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)

static const struct aspx_wait_policy policy = {"test", 100, 50, 20, 1000, ""};
static const struct aspx_wait_policy on_event = {"test",  100,     0,
                                                 1000000, 1000000, ""};

static void expect(const struct aspx_wait_policy *row, uint64_t idle_us,
                   bool awaited, bool late, enum aspx_backoff_step step,
                   uint32_t us)
{
    struct aspx_backoff_choice choice = aspx_backoff_choose(
        row, idle_us, (struct aspx_backoff_signs){awaited, late});

    assert_int_equal(choice.step, step);
    assert_int_equal(choice.block_us, us);
}

static void test_the_order(void **state)
{
    (void) state;
    expect(&policy, 0, false, false, ASPX_SPIN, 0);
    expect(&policy, 99, false, true, ASPX_SPIN, 0);
    expect(&policy, 100, false, false, ASPX_YIELD, 0);
    expect(&policy, 149, false, false, ASPX_YIELD, 0);
    expect(&policy, 149, false, true, ASPX_BLOCK, 20);
    expect(&policy, 150, false, false, ASPX_BLOCK, 20);
    expect(&policy, 190, false, false, ASPX_BLOCK, 40);
    expect(&policy, 900, false, false, ASPX_BLOCK, 750);
    expect(&policy, 900, true, false, ASPX_BLOCK, 20);
    expect(&policy, 1000000, false, false, ASPX_BLOCK, 1000);
    expect(&on_event, 99, false, false, ASPX_SPIN, 0);
    expect(&on_event, 100, false, false, ASPX_BLOCK, 1000000);
    expect(&on_event, UINT64_MAX, false, false, ASPX_BLOCK, 1000000);
}

static void test_work_begins_it_anew(void **state)
{
    struct aspx_backoff backoff = {0};
    uint64_t now = 7 * MS;

    (void) state;
    assert_int_equal(aspx_backoff_next(&backoff, &policy, false, now).step,
                     ASPX_SPIN);
    now += 120 * US;
    assert_int_equal(aspx_backoff_next(&backoff, &policy, false, now).step,
                     ASPX_YIELD);
    now += MS;
    assert_int_equal(aspx_backoff_next(&backoff, &policy, false, now).block_us,
                     970);
    assert_int_equal(aspx_backoff_next(&backoff, &policy, true, now).block_us,
                     20);
    aspx_backoff_reset(&backoff);
    assert_int_equal(aspx_backoff_next(&backoff, &policy, false, now).step,
                     ASPX_SPIN);
}

static void test_late_yields_stop_for_long(void **state)
{
    struct aspx_backoff backoff = {.idle_since_ns = 1};
    uint64_t now = 14 * MS;

    (void) state;
    aspx_backoff_yielded(&backoff, now - MS / 2, now);
    assert_int_equal(backoff.yield_from_ns, 0);
    aspx_backoff_yielded(&backoff, now - 4 * MS, now);
    assert_int_equal(backoff.yield_from_ns, now + 50 * 4 * MS);
    backoff.idle_since_ns = now;
    assert_int_equal(
        aspx_backoff_next(&backoff, &policy, false, now + 120 * US).step,
        ASPX_BLOCK);
    now += 200 * MS;
    backoff.idle_since_ns = now;
    assert_int_equal(
        aspx_backoff_next(&backoff, &policy, false, now + 120 * US).step,
        ASPX_YIELD);
}

static void test_the_table_is_sound(void **state)
{
    (void) state;
    for (int i = 0; i < ASPX_WAITERS; i++) {
        const struct aspx_wait_policy *row = &aspx_wait_table[i];

        assert_non_null(row->waiter);
        assert_true(strlen(row->why) > 0);
        assert_true(row->first_us > 0);
        assert_true(row->first_us <= row->max_us);
        assert_true(row->max_us <= 1000000 || /* the watchdog's two seconds */
                    i == ASPX_WAIT_PROGRESS_ASLEEP || /* nobody watches it */
                    i == ASPX_WAIT_ABORT || /* the process ends after it */
                    i == ASPX_WAIT_MANAGER || i == ASPX_WAIT_FINALIZE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_order),
        cmocka_unit_test(test_work_begins_it_anew),
        cmocka_unit_test(test_late_yields_stop_for_long),
        cmocka_unit_test(test_the_table_is_sound),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
