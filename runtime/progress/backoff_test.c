/* SPDX-License-Identifier: BSD-3-Clause */
/* When the helper looks, and who may wake it: programs of several habits, step
 * by step. */
#include "config.h"

#include "backoff.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static uint32_t after(struct aspx_naps *naps, enum aspx_look found)
{
    return aspx_naps_after(naps, found, false);
}

/* Short naps, then one of the first length. */
static void looks_on(struct aspx_naps *naps)
{
    assert_int_equal(after(naps, ASPX_LOOK_MOVED), ASPX_NAP_NEAR_US);
    for (int i = 1; i < ASPX_NAPS_NEAR; i++)
        assert_int_equal(after(naps, ASPX_LOOK_NOTHING), ASPX_NAP_NEAR_US);
    assert_int_equal(after(naps, ASPX_LOOK_NOTHING), ASPX_NAP_FIRST_US);
}

/* An operation that is over when the program leaves MPI for the first time. */
static void blocking(struct aspx_naps *naps)
{
    (void) aspx_naps_after(naps, ASPX_LOOK_KEPT_OUT, true);
    (void) aspx_naps_idle(naps, false);
}

static void test_naps_grow_by_a_quarter(void **state)
{
    struct aspx_naps naps = {0};
    uint32_t us = aspx_naps_after(&naps, ASPX_LOOK_NOTHING, true), sum = us;
    unsigned looks = 1;

    (void) state;
    assert_int_equal(us, ASPX_NAP_FIRST_US);
    for (; us < ASPX_NAP_MOST_US; looks++, sum += us) {
        uint32_t next = after(&naps, ASPX_LOOK_NOTHING);

        assert_true(next > us && next <= us + us / 4);
        assert_true(next <= 20 + sum / 3); /* late by no more than that */
        us = next;
    }
    assert_in_range(looks, 15, 25);
    assert_int_equal(after(&naps, ASPX_LOOK_NOTHING), ASPX_NAP_MOST_US);
    assert_true(aspx_naps_may_be_woken(&naps));
    looks_on(&naps);
    (void) after(&naps, ASPX_LOOK_NOTHING);
    assert_int_equal(aspx_naps_after(&naps, ASPX_LOOK_NOTHING, true),
                     ASPX_NAP_FIRST_US);
}

/* Each step of a conversation is followed at once, however many; but a program
 * that comes in makes progress itself. */
static void test_looks_on_while_something_moves(void **state)
{
    struct aspx_naps naps = {0};

    (void) state;
    for (int i = 0; i < 10; i++) {
        (void) after(&naps, ASPX_LOOK_MOVED);
        assert_int_equal(after(&naps, ASPX_LOOK_NOTHING), ASPX_NAP_NEAR_US);
    }
    looks_on(&naps);
    (void) after(&naps, ASPX_LOOK_MOVED);
    assert_int_equal(after(&naps, ASPX_LOOK_KEPT_OUT), ASPX_NAP_FIRST_US);
    assert_true(after(&naps, ASPX_LOOK_NOTHING) > ASPX_NAP_FIRST_US);
}

static void test_idle_it_soon_sleeps(void **state)
{
    struct aspx_naps naps = {0};
    uint32_t us, sum = 0;

    (void) state;
    (void) after(&naps, ASPX_LOOK_NOTHING);
    while ((us = aspx_naps_idle(&naps, false)) != ASPX_NAP_SLEEP)
        sum += us;
    assert_in_range(sum, 100, 300);
    assert_int_equal(aspx_naps_idle(&naps, false), ASPX_NAP_SLEEP);
    assert_true(aspx_naps_may_be_woken(&naps));
}

/* The program waits at once: soon nothing wakes the helper, and while there are
 * posts it does not sleep either. */
static void test_not_woken_in_vain(void **state)
{
    struct aspx_naps naps = {0};
    uint32_t us = 0;

    (void) state;
    for (int i = 0; i < ASPX_NAPS_IN_VAIN; i++) {
        assert_true(aspx_naps_may_be_woken(&naps));
        blocking(&naps);
    }
    assert_false(aspx_naps_may_be_woken(&naps));
    for (int i = 0; i < 100; i++) {
        us = aspx_naps_idle(&naps, i % ASPX_NAPS_IDLE == 0);
        assert_int_not_equal(us, ASPX_NAP_SLEEP);
    }
    assert_int_equal(us, ASPX_NAP_MOST_US);
    for (int i = 0; i < 2 * ASPX_NAPS_IDLE; i++)
        us = aspx_naps_idle(&naps, false);
    assert_int_equal(us, ASPX_NAP_SLEEP);
    assert_int_not_equal(aspx_naps_idle(&naps, true), ASPX_NAP_SLEEP);
}

/* Operations that are over before it is up are in vain, too. */
static void test_over_before_it_is_up(void **state)
{
    struct aspx_naps naps = {0};
    int wakes = 0;

    (void) state;
    while (aspx_naps_idle(&naps, false) != ASPX_NAP_SLEEP)
        ;
    while (aspx_naps_idle(&naps, true) == ASPX_NAP_SLEEP)
        assert_true(++wakes < 2 * ASPX_NAPS_IN_VAIN);
    assert_false(aspx_naps_may_be_woken(&naps));
}

/* Then it computes: the helper is there at once for all that follows; a look
 * that just fell between a post and its wait changes little. */
static void test_comes_back(void **state)
{
    struct aspx_naps naps = {0};

    (void) state;
    for (int i = 0; i < 100; i++)
        blocking(&naps);
    assert_int_equal(after(&naps, ASPX_LOOK_NOTHING), ASPX_NAP_FIRST_US);
    assert_true(aspx_naps_may_be_woken(&naps));
    assert_true(after(&naps, ASPX_LOOK_NOTHING) < 2 * ASPX_NAP_FIRST_US);
    blocking(&naps);
    assert_false(aspx_naps_may_be_woken(&naps));
    assert_int_equal(after(&naps, ASPX_LOOK_MOVED), ASPX_NAP_NEAR_US);
    for (int i = 1; i < ASPX_NAPS_IN_VAIN; i++)
        blocking(&naps);
    assert_true(aspx_naps_may_be_woken(&naps));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_naps_grow_by_a_quarter),
        cmocka_unit_test(test_looks_on_while_something_moves),
        cmocka_unit_test(test_idle_it_soon_sleeps),
        cmocka_unit_test(test_not_woken_in_vain),
        cmocka_unit_test(test_over_before_it_is_up),
        cmocka_unit_test(test_comes_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
