/* SPDX-License-Identifier: BSD-3-Clause */
/* The prediction against scripts of phases. */
#include "config.h"

#include "predictor.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* A process that is inside MPI for a share of each interval. */
struct run {
    struct aspx_predict p;
    double now, mpi;
};

static struct run begin(double interval_s)
{
    struct run run = {.now = 1000.0, .mpi = 3.0};

    aspx_predict_init(&run.p, interval_s, 0.90, 0.85, run.now, run.mpi);
    return run;
}

static bool pass(struct run *run, double seconds, double share)
{
    run->now += seconds;
    run->mpi += seconds * share;
    return aspx_predict_update(&run->p, run->now, run->mpi);
}

static void test_starts_on(void **state)
{
    struct run run = begin(1.0);

    (void) state;
    assert_true(run.p.on);
    assert_true(aspx_predict_update(&run.p, run.now, run.mpi));
}

static void test_high_is_off_and_low_is_on(void **state)
{
    struct run run = begin(1.0);

    (void) state;
    assert_true(pass(&run, 1.0, 0.50));
    assert_false(pass(&run, 1.0, 0.95));
    assert_true(pass(&run, 1.0, 0.80));
    assert_false(pass(&run, 1.0, 1.00));
    assert_true(pass(&run, 1.0, 0.00));
}

static void test_between_nothing_changes(void **state)
{
    struct run run = begin(1.0);

    (void) state;
    for (int i = 0; i < 3; i++)
        assert_true(pass(&run, 1.0, 0.875));
    assert_false(pass(&run, 1.0, 0.91));
    for (int i = 0; i < 3; i++)
        assert_false(pass(&run, 1.0, 0.875));
    assert_true(pass(&run, 1.0, 0.84));
    assert_true(pass(&run, 1.0, 0.89));
}

static void test_not_before_the_interval(void **state)
{
    struct run run = begin(1.0);

    (void) state;
    for (int i = 0; i < 9; i++)
        assert_true(pass(&run, 0.1, 1.0));
    assert_true(pass(&run, 0.05, 1.0));
    assert_false(pass(&run, 0.25, 1.0));
    /* the interval slides in quarters: one is enough to come below 85 % */
    assert_false(pass(&run, 0.20, 0.0));
    assert_true(pass(&run, 0.05, 0.0));
}

/* What is older than the interval no longer counts. */
static void test_forgets(void **state)
{
    struct run run = begin(1.0);

    (void) state;
    for (int i = 0; i < 40; i++)
        pass(&run, 0.25, 0.0);
    for (int i = 0; i < 3; i++)
        assert_true(pass(&run, 0.25, 1.0));
    assert_false(pass(&run, 0.25, 1.0));
}

/* An interval that grew: nothing is decided before one of that length is seen,
 * and those that are kept reach back far enough for that. */
static void test_grows(void **state)
{
    struct run run = begin(1.0);
    int looks = 0;

    (void) state;
    for (int i = 0; i < 8; i++)
        pass(&run, 0.25, 0.0);
    run.p.interval_s = 2.0;
    while (pass(&run, 0.5, 1.0) && looks < 10)
        looks++;
    assert_in_range(looks, 3, 4);
}

/* Looked at rarely, all that has passed counts. */
static void test_late(void **state)
{
    struct run run = begin(0.02);

    (void) state;
    assert_true(pass(&run, 10.0, 0.89));
    run.now += 1.0;
    run.mpi += 1.0;
    assert_false(pass(&run, 0.0, 0.0));
}

/* Twice in the same moment, and time that more than passed: as threads can
 * make it seem. */
static void test_odd_times(void **state)
{
    struct run run = begin(0.0);

    (void) state;
    assert_true(pass(&run, 0.0, 1.0));
    assert_false(pass(&run, 1.0, 3.0));
    assert_false(pass(&run, 0.0, 0.0));
    assert_false(isnan(run.p.share));
    assert_false(aspx_predict_update(&run.p, run.now - 5.0, 0.0));
    assert_true(pass(&run, 1.0, 0.0));
}

/* Samples that stand for too much. A threshold of 100 % means never. */
static void test_no_more_than_all(void **state)
{
    struct aspx_predict p;

    (void) state;
    aspx_predict_init(&p, 1.0, 1.0, 0.9, 0.0, 0.0);
    assert_true(aspx_predict_update(&p, 1.0, 1.5));
    assert_true(p.share <= 1);
}

static void test_thresholds_that_cross(void **state)
{
    struct aspx_predict p;

    (void) state;
    aspx_predict_init(&p, 1.0, 0.5, 0.7, 0.0, 0.0);
    assert_false(aspx_predict_update(&p, 1.0, 0.6));
    assert_false(aspx_predict_update(&p, 2.0, 1.2));
    assert_true(aspx_predict_update(&p, 3.0, 1.6));
}

/* Phases of three intervals: the first of them is wrong, in the mean less. */
static void test_phases(void **state)
{
    struct run run = begin(0.02);
    int wrong = 0, looks = 0;

    (void) state;
    for (int phase = 0; phase < 20; phase++) {
        bool computes = phase % 2 == 0;

        for (int i = 0; i < 30; i++, looks++)
            wrong += pass(&run, 0.002, computes ? 0.1 : 0.97) != computes;
    }
    assert_int_equal(looks, 600);
    assert_in_range(wrong, 19 * 2, 19 * 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_starts_on),
        cmocka_unit_test(test_high_is_off_and_low_is_on),
        cmocka_unit_test(test_between_nothing_changes),
        cmocka_unit_test(test_not_before_the_interval),
        cmocka_unit_test(test_forgets),
        cmocka_unit_test(test_grows),
        cmocka_unit_test(test_late),
        cmocka_unit_test(test_odd_times),
        cmocka_unit_test(test_no_more_than_all),
        cmocka_unit_test(test_thresholds_that_cross),
        cmocka_unit_test(test_phases),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
