/* SPDX-License-Identifier: BSD-3-Clause */
/* The number of active ghosts against traces of load. */
#include "config.h"

#include "ghost_scaling.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { GHOSTS = 4 };

static struct aspx_scaler begin(uint32_t reserved)
{
    struct aspx_scaler scaler;

    aspx_scaler_init(&scaler, reserved, 0.70, 0.40);
    return scaler;
}

/* Work for `load` ghosts, spread over the active ones as well as it goes. */
static uint32_t even(struct aspx_scaler *scaler, double load)
{
    double busy[GHOSTS] = {0};

    for (uint32_t g = 0; g < scaler->active; g++)
        busy[g] = load / scaler->active < 1 ? load / scaler->active : 1;
    return aspx_scaler_update(scaler, busy);
}

/* Likewise for so many intervals. Returns how often the number changed. */
static int stay(struct aspx_scaler *scaler, double load, int intervals)
{
    int changes = 0;

    while (intervals-- > 0) {
        uint32_t was = scaler->active;

        changes += even(scaler, load) != was;
    }
    return changes;
}

static void test_starts_with_all(void **state)
{
    struct aspx_scaler scaler = begin(3);

    (void) state;
    assert_int_equal(scaler.active, 3);
    assert_int_equal(even(&scaler, 0.5),
                     3); /* one quiet interval says nothing */
}

static void test_quiet_parks_all_but_one(void **state)
{
    struct aspx_scaler scaler = begin(4);

    (void) state;
    assert_int_equal(stay(&scaler, 0, 3), 0);
    assert_int_equal(even(&scaler, 0), 3); /* in the fourth interval, one */
    assert_int_equal(stay(&scaler, 0, 8), 2);
    assert_int_equal(scaler.active, 1);
    assert_int_equal(stay(&scaler, 0, 1000), 0);
}

static void test_one_ghost_stays(void **state)
{
    struct aspx_scaler scaler = begin(1);

    (void) state;
    assert_int_equal(stay(&scaler, 0, 100), 0);
    assert_int_equal(stay(&scaler, 1, 100), 0);
    assert_int_equal(scaler.active, 1);
}

static void test_grows_at_once(void **state)
{
    struct aspx_scaler scaler = begin(4);

    (void) state;
    stay(&scaler, 0, 100);
    assert_int_equal(even(&scaler, 0.69), 1);
    assert_int_equal(even(&scaler, 3.2), 2);
    assert_int_equal(even(&scaler, 3.2), 4);
    assert_int_equal(stay(&scaler, 3.2, 100), 0);
}

static void test_steady_load_is_left_alone(void **state)
{
    (void) state;
    /* Whatever the load, the number settles and then stays. */
    for (double load = 0; load < 4.5; load += 0.05) {
        struct aspx_scaler few = begin(4), many = begin(4);

        stay(&few, 0, 100);
        stay(&few, load, 100);
        stay(&many, load, 100);
        assert_int_equal(stay(&few, load, 1000), 0);
        assert_int_equal(stay(&many, load, 1000), 0);
        /* and nobody is above the limit while others rest */
        assert_true(few.active == 4 || load / few.active <= 0.70);
        assert_true(many.active == 4 || load / many.active <= 0.70);
    }
}

static void test_between_nothing_changes(void **state)
{
    struct aspx_scaler scaler = begin(2);

    (void) state;
    assert_int_equal(stay(&scaler, 0.45, 100), 0); /* two */
    stay(&scaler, 0.30, 100);
    assert_int_equal(scaler.active, 1);
    assert_int_equal(stay(&scaler, 0.65, 100), 0); /* one */
}

/* Accumulates on one target have one ghost, however many there are. */
static void test_hot_spot_keeps_what_it_has(void **state)
{
    struct aspx_scaler scaler = begin(3);
    const double busy[3] = {0.05, 0.95, 0};

    (void) state;
    for (int i = 0; i < 100; i++)
        assert_int_equal(aspx_scaler_update(&scaler, busy), 3);
}

static void test_work_of_a_parked_one_counts(void **state)
{
    struct aspx_scaler scaler = begin(2);
    const double busy[2] = {0.05, 0.9};

    (void) state;
    stay(&scaler, 0, 100);
    assert_int_equal(scaler.active, 1);
    assert_int_equal(aspx_scaler_update(&scaler, busy), 2);
}

static void test_a_noisy_calm_is_no_calm(void **state)
{
    struct aspx_scaler scaler = begin(2);

    (void) state;
    for (int i = 0; i < 100; i++) {
        assert_int_equal(stay(&scaler, 0, 3), 0);
        assert_int_equal(even(&scaler, 0.6), 2);
    }
}

/* Bursts with rests in between that are long enough to park. */
static void test_bursts_do_not_flap(void **state)
{
    struct aspx_scaler scaler = begin(2);
    int changes = 0;

    (void) state;
    for (int i = 0; i < 100; i++) {
        changes += stay(&scaler, 1.5, 2);
        changes += stay(&scaler, 0, 10);
    }
    assert_in_range(changes, 1, 6);
    assert_int_equal(scaler.active, 2);
    /* When they are over it parks after all. */
    assert_int_equal(stay(&scaler, 0, 64), 1);
    /* And when one comes much later, it is as patient as at first. */
    stay(&scaler, 0, 1000);
    assert_int_equal(even(&scaler, 1.5), 2);
    assert_int_equal(stay(&scaler, 0, 4), 1);
}

/* Two ghosts' targets on one, which is then too much for it. */
static void test_uneven_load_does_not_flap(void **state)
{
    struct aspx_scaler scaler = begin(4);
    const double apart[4] = {0.39, 0, 0, 0.39}, together[4] = {0.78, 0, 0, 0};
    int changes = 0;

    (void) state;
    for (int i = 0; i < 1000; i++) {
        uint32_t was = scaler.active;

        changes += aspx_scaler_update(&scaler, was == 4 ? apart : together) !=
                   was;
    }
    /* Every 64 intervals it may try. */
    assert_in_range(changes, 1, 2 * (1000 / 64 + 6));
}

static void test_thresholds_in_wrong_order(void **state)
{
    struct aspx_scaler scaler;

    (void) state;
    aspx_scaler_init(&scaler, 2, 0.3, 0.9);
    assert_int_equal(stay(&scaler, 0.5, 100), 0);
    assert_int_equal(stay(&scaler, 0.2, 100), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_starts_with_all),
        cmocka_unit_test(test_quiet_parks_all_but_one),
        cmocka_unit_test(test_one_ghost_stays),
        cmocka_unit_test(test_grows_at_once),
        cmocka_unit_test(test_steady_load_is_left_alone),
        cmocka_unit_test(test_between_nothing_changes),
        cmocka_unit_test(test_hot_spot_keeps_what_it_has),
        cmocka_unit_test(test_work_of_a_parked_one_counts),
        cmocka_unit_test(test_a_noisy_calm_is_no_calm),
        cmocka_unit_test(test_bursts_do_not_flap),
        cmocka_unit_test(test_uneven_load_does_not_flap),
        cmocka_unit_test(test_thresholds_in_wrong_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
