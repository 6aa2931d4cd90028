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
    double on, off; /* operations per second */
    double noise;   /* of each slice, of its size */
    double drift;   /* factor from slice to slice */
    enum {
        DEAF = 1,      /* operations go to ghosts, on or off */
        EFFECT_MIN = 2 /* and that is known to mean nothing */
    } is;
};

static enum aspx_trial_end try_it(const struct program *program, uint32_t order,
                                  struct aspx_trial *trial)
{
    double drift = 1;

    aspx_trial_begin(trial, order, program->is & EFFECT_MIN);
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

/* Each pair has both ways; which comes first nobody can foresee. */
static void test_order(void **state)
{
    int first = 0, alike = 0;

    (void) state;
    for (uint32_t order = 0; order < 1000; order++) {
        struct aspx_trial trial;
        bool on[4];

        aspx_trial_begin(&trial, order, false);
        for (int s = 0; s < 4; s++, trial.slices++)
            on[s] = aspx_trial_next(&trial);
        assert_true(on[0] != on[1] && on[2] != on[3]);
        first += on[0];
        alike += on[0] == on[2];
    }
    assert_in_range(first, 400, 600);
    assert_in_range(alike, 400, 600);
}

static void test_plain(void **state)
{
    static const struct program better = {1e6, 2e4, 0.2, 1, 0},
                                worse = {1e5, 4e5, 0.2, 1, 0},
                                stuck = {1e6, 0, 0.2, 1, 0};
    struct aspx_trial trial;

    (void) state;
    assert_int_equal(try_it(&better, 1, &trial), ASPX_TRIAL_ON);
    assert_int_equal(trial.slices, 4); /* and no longer */
    assert_true(trial.ratio > 30 && trial.ratio < 80);
    assert_int_equal(try_it(&better, 2, &trial), ASPX_TRIAL_ON);
    assert_int_equal(try_it(&worse, 3, &trial), ASPX_TRIAL_OFF);
    assert_true(trial.ratio > 0.15 && trial.ratio < 0.4);
    assert_int_equal(try_it(&stuck, 4, &trial), ASPX_TRIAL_ON);
    assert_true(aspx_trial_rate(&trial, false) == 0);
    assert_true(aspx_trial_rate(&trial, true) > 7e5);
}

/* Of a thousand trials each. */
static int count(const struct program *program, enum aspx_trial_end end)
{
    struct aspx_trial trial;
    int n = 0;

    for (int i = 0; i < 1000; i++)
        n += try_it(program, (uint32_t) i, &trial) == end;
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
    static const struct program ineffective = {1e5, 1.5e5, 0.1, 1, DEAF},
                                few = {1e5, 1.5e5, 0.1, 1, DEAF | EFFECT_MIN},
                                silent = {0, 0, 0, 1, 0};
    struct aspx_trial trial;

    (void) state;
    assert_int_equal(try_it(&ineffective, 5, &trial), ASPX_TRIAL_INEFFECTIVE);
    assert_int_equal(trial.slices, 6);
    assert_int_equal(try_it(&few, 6, &trial), ASPX_TRIAL_OFF);
    assert_int_equal(try_it(&silent, 7, &trial), ASPX_TRIAL_SILENT);
    assert_int_equal(trial.slices, 6);
    /* It is over: nothing more is taken. */
    assert_int_equal(aspx_trial_slice(&trial, 0.05, 1e6, 0), ASPX_TRIAL_SILENT);
    assert_int_equal(trial.slices, 6);
}

/* Operations come in bursts, some ms at the beginning of each period; slices of
 * 50 ms, and 8 between two ways. Returns how it ended. */
static enum aspx_trial_end try_bursts(double period, double burst, double at,
                                      uint32_t order)
{
    struct aspx_trial trial;
    bool was = false;

    aspx_trial_begin(&trial, order, false);
    for (int s = 0; s < 100; s++) {
        bool on = aspx_trial_next(&trial);
        double ops = 0;

        at += on == was ? 0 : 8;
        for (int ms = 0; ms < 50; ms++, at++)
            ops += fmod(at, period) < burst ? 50 : 0;
        was = on;
        if (aspx_trial_slice(&trial, 0.05, ops, on ? ops : 0))
            break;
    }
    return trial.end;
}

/* And nothing is made of the program's own rhythm. */
static void test_bursts(void **state)
{
    int n = 0, made = 0;

    (void) state;
    for (double period = 60; period < 500; period += 7)
        for (uint32_t order = 0; order < 50; order++, n++) {
            enum aspx_trial_end end = try_bursts(period, 20, 13.0 * order,
                                                 order * 77);

            made += end == ASPX_TRIAL_ON || end == ASPX_TRIAL_OFF;
        }
    print_message("%d of %d\n", made, n);
    assert_true(made < n / 25);
}

/* Nor of a few operations, that come as they like. */
static void test_few(void **state)
{
    int made = 0;

    (void) state;
    for (uint32_t order = 0; order < 1000; order++) {
        struct aspx_trial trial;

        aspx_trial_begin(&trial, order, true);
        for (int s = 0; s < 100; s++) {
            double ops = 0;

            for (int ms = 0; ms < 50; ms++)
                ops += noise() > 0.9; /* one in 20 ms */
            if (aspx_trial_slice(&trial, 0.05, ops, 0))
                break;
        }
        made += trial.end == ASPX_TRIAL_ON || trial.end == ASPX_TRIAL_OFF;
    }
    print_message("%d of 1000\n", made);
    assert_true(made < 120);
}

/* However it goes, it ends in time. */
static void test_ends(void **state)
{
    (void) state;
    for (uint32_t s = 0; s < 1000; s++) {
        struct program program = {1e5 * (1 + noise()), 1e5 * (1 + noise()), 1,
                                  1 + 0.2 * noise(), 0};
        struct aspx_trial trial;

        seed = s;
        assert_int_not_equal(try_it(&program, s, &trial), ASPX_TRIAL_GOES_ON);
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
        cmocka_unit_test(test_bursts),
        cmocka_unit_test(test_few),
        cmocka_unit_test(test_ends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
