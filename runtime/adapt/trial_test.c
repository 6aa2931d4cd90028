/* SPDX-License-Identifier: BSD-3-Clause */
/* Trials of programs whose speed is known, with noise. */
#include "config.h"

#include "trial.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static uint32_t seed;

/* -1..1 */
static double noise(void)
{
    seed = seed * 1664525 + 1013904223;
    return (double) (seed >> 8) / (1 << 23) - 1;
}

struct program {
    double on, off;      /* operations per second */
    double noise;        /* of each slice, of its size */
    double drift;        /* factor from slice to slice */
    enum { DEAF = 1,     /* operations go to ghosts, on or off */
           FOLLOWS = 2   /* and that is known to mean nothing */ } is;
};

/* Returns how it ended; slices_p may be NULL. */
static enum aspx_trial_end try_it(const struct program *program, bool first,
                                  struct aspx_trial *trial)
{
    double drift = 1;

    aspx_trial_begin(trial, first, program->is & FOLLOWS);
    for (int s = 0; s < 100; s++) {
        bool on = aspx_trial_next(trial);
        double ops = 0.05 * drift * (on ? program->on : program->off) *
                     (1 + program->noise * noise());

        if (aspx_trial_slice(trial, 0.05, ops,
                             on || program->is & DEAF ? ops : 0))
            break;
        drift *= program->drift;
    }
    return trial->end;
}

static void test_order(void **state)
{
    static const bool order[] = {true, false, false, true, true, false, 0};
    struct aspx_trial trial;

    (void) state;
    aspx_trial_begin(&trial, true, false);
    for (size_t s = 0; s < sizeof(order) / sizeof(order[0]); s++) {
        assert_int_equal(aspx_trial_next(&trial), order[s]);
        trial.slices++;
    }
    aspx_trial_begin(&trial, false, false);
    assert_false(aspx_trial_next(&trial));
}

static void test_plain(void **state)
{
    static const struct program better = {1e6, 2e4, 0.2, 1, 0},
                                worse = {1e5, 4e5, 0.2, 1, 0},
                                stuck = {1e6, 0, 0.2, 1, 0};
    struct aspx_trial trial;

    (void) state;
    assert_int_equal(try_it(&better, true, &trial), ASPX_TRIAL_ON);
    assert_int_equal(trial.slices, 4); /* and no longer */
    assert_true(trial.ratio > 30 && trial.ratio < 80);
    assert_int_equal(try_it(&better, false, &trial), ASPX_TRIAL_ON);
    assert_int_equal(try_it(&worse, true, &trial), ASPX_TRIAL_OFF);
    assert_true(trial.ratio > 0.15 && trial.ratio < 0.4);
    assert_int_equal(try_it(&stuck, false, &trial), ASPX_TRIAL_ON);
    assert_true(aspx_trial_rate(&trial, false) == 0);
    assert_true(aspx_trial_rate(&trial, true) > 7e5);
}

/* Of a thousand trials each. */
static int count(const struct program *program, enum aspx_trial_end end)
{
    struct aspx_trial trial;
    int n = 0;

    for (int i = 0; i < 1000; i++)
        n += try_it(program, i % 2, &trial) == end;
    return n;
}

static void test_small_differences(void **state)
{
    static const struct program tenth = {1.10e5, 1.00e5, 0.03, 1, 0},
                                same = {1.00e5, 1.00e5, 0.02, 1, 0},
                                drift = {1.20e5, 1.00e5, 0.02, 1.1, 0};

    (void) state;
    assert_true(count(&tenth, ASPX_TRIAL_ON) > 950);
    assert_int_equal(count(&tenth, ASPX_TRIAL_OFF), 0);
    assert_true(count(&same, ASPX_TRIAL_SAME) > 900);
    assert_true(count(&drift, ASPX_TRIAL_ON) > 700);
    assert_int_equal(count(&drift, ASPX_TRIAL_OFF), 0);
}

/* Nothing is made of noise: with slices that differ by half either way it is
 * seldom wrong, and with a real difference hardly ever the wrong way round. */
static void test_noise(void **state)
{
    static const struct program same = {1e5, 1e5, 0.5, 1, 0},
                                half = {1e5, 2e5, 0.5, 1, 0};

    (void) state;
    assert_true(count(&same, ASPX_TRIAL_ON) < 120);
    assert_true(count(&same, ASPX_TRIAL_OFF) < 120);
    assert_true(count(&half, ASPX_TRIAL_ON) < 10);
    assert_true(count(&half, ASPX_TRIAL_OFF) > 500);
}

static void test_deaf_and_silent(void **state)
{
    static const struct program deaf = {1e5, 1.5e5, 0.1, 1, DEAF},
                                few = {1e5, 1.5e5, 0.1, 1, DEAF | FOLLOWS},
                                silent = {0, 0, 0, 1, 0};
    struct aspx_trial trial;

    (void) state;
    assert_int_equal(try_it(&deaf, true, &trial), ASPX_TRIAL_DEAF);
    assert_int_equal(trial.slices, 6);
    assert_int_equal(try_it(&few, true, &trial), ASPX_TRIAL_OFF);
    assert_int_equal(try_it(&silent, true, &trial), ASPX_TRIAL_SILENT);
    assert_int_equal(trial.slices, 4);
    /* It is over: nothing more is taken. */
    assert_int_equal(aspx_trial_slice(&trial, 0.05, 1e6, 0),
                     ASPX_TRIAL_SILENT);
    assert_int_equal(trial.slices, 4);
}

/* However it goes, it ends in time. */
static void test_ends(void **state)
{
    (void) state;
    for (uint32_t s = 0; s < 1000; s++) {
        struct program program = {1e5 * (1 + noise()), 1e5 * (1 + noise()),
                                  1, 1 + 0.2 * noise(), 0};
        struct aspx_trial trial;

        seed = s;
        assert_int_not_equal(try_it(&program, s % 2, &trial),
                             ASPX_TRIAL_GOES_ON);
        assert_true(trial.slices <= 2 * ASPX_TRIAL_PAIRS);
        if (trial.npairs) /* but for rounding */
            assert_true(trial.low <= 1.001 * trial.ratio &&
                        trial.ratio <= 1.001 * trial.high);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_small_differences),
        cmocka_unit_test(test_noise),
        cmocka_unit_test(test_deaf_and_silent),
        cmocka_unit_test(test_ends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
