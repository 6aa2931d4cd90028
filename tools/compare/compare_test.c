/* SPDX-License-Identifier: BSD-3-Clause */
/* The statistics of `aspen compare` against tables and by simulation, and the
 * reading of srun's command lines. */
#include "compare.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { LENGTH = 9 };

#define assert_near(a, b) assert_true(fabs((a) - (b)) < 1e-12)

/* 1, 2, ... times a factor: all quotients are different. */
static void fill(double *values, size_t n, double base, double step)
{
    for (size_t i = 0; i < n; i++)
        values[i] = base * exp(step * (double) i);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;

    return (x > y) - (x < y);
}

/* Critical values of U, two-sided 5 % (Mann and Whitney's table, as in every
 * textbook): the interval leaves out that many quotients at either end. */
static const struct {
    size_t n, m, u;
} critical[] = {{4, 4, 0},   {4, 5, 1},    {5, 5, 2},     {5, 8, 6},
                {6, 6, 5},   {7, 7, 8},    {8, 8, 13},    {10, 10, 23},
                {12, 9, 26}, {15, 15, 64}, {20, 20, 127}, {20, 15, 90}};

static void test_critical_values(void **state)
{
    (void) state;
    for (size_t c = 0; c < sizeof(critical) / sizeof(critical[0]); c++) {
        size_t n = critical[c].n, m = critical[c].m, k = 0;
        double with[20], without[20], all[400];
        struct aspt_effect effect;

        fill(with, n, 1, 0.001);
        fill(without, m, 1, 0.0317);
        for (size_t i = 0; i < n * m; i++)
            all[k++] = with[i / m] / without[i % m];
        qsort(all, k, sizeof(*all), by_size);
        aspt_effect_of(with, n, without, m, &effect);
        assert_near(effect.low, all[critical[c].u]);
        assert_near(effect.high, all[k - 1 - critical[c].u]);
        assert_true(effect.confidence >= 0.95 && effect.confidence < 0.98);
    }
}

/* 4 and 4: both ends are extremes, one order of 70 in either tail. */
static void test_exact_confidence(void **state)
{
    static const double with[] = {8, 9, 10, 11}, without[] = {16, 20, 22, 18};
    struct aspt_effect effect;
    char text[128];

    (void) state;
    aspt_effect_of(with, 4, without, 4, &effect);
    assert_near(effect.confidence, 1 - 2.0 / 70);
    assert_near(effect.low, 8.0 / 22);
    assert_near(effect.high, 11.0 / 16);
    /* 16 quotients; the 8th and 9th are 10/20 and 9/18 or 11/22 */
    assert_near(effect.ratio, 0.5);
    assert_int_equal(effect.verdict, ASPT_HELPS);
    assert_string_equal(aspt_effect_print(&effect, text, sizeof(text)),
                        "helps 50 % +- 19");
}

static const struct {
    double with[7], without[7];
    const char *says;
} verdicts[] = {
    {{77, 77.2, 76.8, 77.1, 76.9, 77.3, 76.7},
     {100, 100.2, 99.8, 100.1, 99.9, 100.3, 99.7},
     "helps 23.0 % +- 0.3"},
    {{105, 106, 104, 105.5, 104.5, 105, 105},
     {100, 100.5, 99.5, 100, 100, 101, 99},
     "hurts 5 % +- 1"},
    {{100, 101, 99, 100.5, 99.5, 100, 100},
     {100, 101, 99, 100.5, 99.5, 100, 100},
     "no difference (within 1.0 %)"},
    {{100, 130, 90, 85, 110, 95, 120},
     {100, 125, 92, 88, 111, 96, 119},
     "unclear: between 19 % less and 20 % more time"},
    {{100, 130, 98, 115, 110, 105, 120},
     {100, 99, 98, 97, 95, 96, 94},
     "hurts 13.4 % +- 12.9"},
    {{100, 130, 98, 115, 105, 104, 120},
     {100, 99, 98, 97, 95, 96, 94},
     "hurts, by 3.1 to 26.3 %"},
    {{100.1, 100.2, 100.3, 100.15, 100.25, 100.35, 100.3},
     {100, 100.01, 100.02, 99.99, 99.98, 100, 100},
     "no difference (within 0.3 %)"},
    /* One run that went astray, on either side, changes no verdict. */
    {{77, 77.2, 76.8, 900, 76.9, 77.3, 76.7},
     {100, 100.2, 99.8, 100.1, 99.9, 100.3, 99.7},
     "helps 23.0 % +- 0.4"},
    {{100, 101, 99, 100.5, 99.5, 100, 100},
     {100, 101, 99, 1, 99.5, 100, 100},
     "no difference (within 1.5 %)"},
};

static void test_verdicts(void **state)
{
    (void) state;
    for (size_t i = 0; i < sizeof(verdicts) / sizeof(verdicts[0]); i++) {
        struct aspt_effect effect;
        char text[128];

        aspt_effect_of(verdicts[i].with, 7, verdicts[i].without, 7, &effect);
        assert_string_equal(aspt_effect_print(&effect, text, sizeof(text)),
                            verdicts[i].says);
    }
}

/* The same interval of differences; values may be 0. */
static void test_saved(void **state)
{
    static const double with[] = {1, 0, 3, 2}, without[] = {12, 10, 14, 16};
    struct aspt_saved saved;
    double least, most;

    (void) state;
    aspt_saved_of(with, 4, without, 4, &saved);
    assert_near(saved.low, 7);
    assert_near(saved.high, 16);
    /* 16 differences; the 8th and 9th are 11 and 12 */
    assert_near(saved.s, 11.5);
    assert_near(saved.confidence, 1 - 2.0 / 70);
    aspt_saved_of(without, 4, with, 4, &saved);
    assert_near(saved.s, -11.5);
    aspt_saved_of(with, 3, without, 4, &saved);
    assert_near(saved.s, 12);
    assert_true(saved.confidence == 0);
    aspt_ends(with, 4, &least, &most);
    assert_true(least == 0 && most == 3);
}

static void test_too_few(void **state)
{
    static const double times[ASPT_RUNS_MAX] = {3, 1, 2};
    struct aspt_effect effect;
    char text[128];

    (void) state;
    aspt_effect_of(times, 3, times, 2, &effect);
    assert_int_equal(effect.verdict, ASPT_TOO_FEW);
    assert_near(effect.ratio, 1);
    aspt_effect_of(times, 3, NULL, 0, &effect);
    assert_int_equal(effect.verdict, ASPT_TOO_FEW);
    assert_near(effect.ratio, 0);
    aspt_effect_print(&effect, text, sizeof(text));
    assert_string_equal(text, "no verdict: too few runs");
}

/* The largest lists: by then the normal distribution says the same. */
static void test_many_runs(void **state)
{
    static double with[ASPT_RUNS_MAX], without[ASPT_RUNS_MAX], all[10000];
    double out = 5000 - 1.96 * sqrt(100.0 * 100 * 201 / 12);
    struct aspt_effect effect;

    (void) state;
    fill(with, ASPT_RUNS_MAX, 1, 0.00001);
    fill(without, ASPT_RUNS_MAX, 1, 0.00317);
    for (size_t i = 0; i < 10000; i++)
        all[i] = with[i / 100] / without[i % 100];
    qsort(all, 10000, sizeof(*all), by_size);
    aspt_effect_of(with, ASPT_RUNS_MAX, without, ASPT_RUNS_MAX, &effect);
    assert_true(effect.low >= all[(size_t) out - 3]);
    assert_true(effect.low <= all[(size_t) out + 3]);
    assert_true(effect.confidence >= 0.95 && effect.confidence < 0.951);
}

/* A time with a tail, as times of jobs have; from a generator of our own, so
 * that the test is the same everywhere. */
static double random_time(uint64_t *seed)
{
    double u;

    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    u = (double) ((*seed >> 11) + 1) / 9007199254740993.0;
    return 1 - 0.1 * log(u);
}

/* How often is the true ratio within the interval? At least in 95 of 100. */
static void test_coverage(void **state)
{
    enum { TRIALS = 4000 };
    uint64_t seed = 1;
    int held = 0;

    (void) state;
    for (int t = 0; t < TRIALS; t++) {
        double with[7], without[7];
        struct aspt_effect effect;

        for (int i = 0; i < 7; i++) {
            with[i] = 0.8 * random_time(&seed);
            without[i] = random_time(&seed);
        }
        aspt_effect_of(with, 7, without, 7, &effect);
        held += effect.low <= 0.8 && effect.high >= 0.8;
    }
    assert_in_range(held, TRIALS * 945 / 1000, TRIALS * 975 / 1000);
}

static void test_median(void **state)
{
    static const double values[] = {9, 1, 5, 3};

    (void) state;
    assert_near(aspt_median(values, 1), 9);
    assert_near(aspt_median(values, 3), 5);
    assert_near(aspt_median(values, 4), 4);
}

/* Command lines, their options as "name=value" with "+" before those of an
 * allocation, and the program. */
static const struct {
    const char *words[LENGTH];
    const char *options;
    const char *program; /* its first word */
} lines[] = {
    {{"srun", "-N2", "-n", "8", "--async-progress=ghost:1", "./app", "-n4"},
     " +nodes=2 +ntasks=8 +async-progress=ghost:1",
     "./app"},
    {{"srun", "--nodes", "2", "--async-progress", "app",
      "--async-progress=off"},
     " +nodes=2 +async-progress",
     "app"},
    {{"srun", "-luN2", "-K1", "-K", "-Op", "main", "app"},
     " label unbuffered +nodes=2 kill-on-bad-exit=1 kill-on-bad-exit "
     "+overcommit +partition=main",
     "app"},
    /* beginnings of names; of several it is none of them */
    {{"srun", "--mincp", "2", "--nod=2", "app"}, " +mincpus=2 ?=2", "app"},
    {{"srun", "--mpi=pmi2", "--unknown", "--other=1", "--", "-odd"},
     " mpi=pmi2 ? ?=1",
     "-odd"},
    {{"srun", "-n"}, " +ntasks", NULL},
    {{"srun"}, "", NULL},
};

static void test_srun_lines(void **state)
{
    (void) state;
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        char text[256] = "";
        struct aspt_srun srun;

        assert_int_equal(
            aspt_srun_parse((char **) (uintptr_t) lines[i].words, &srun), 0);
        for (size_t k = 0; k < srun.noptions; k++) {
            const struct aspt_srun_option *option = &srun.options[k];

            strcat(strcat(text, " "), option->allocates ? "+" : "");
            strcat(text, option->name[0] ? option->name : "?");
            if (option->value)
                strcat(strcat(text, "="), option->value);
        }
        assert_string_equal(text, lines[i].options);
        if (lines[i].program)
            assert_string_equal(srun.program[0], lines[i].program);
        else
            assert_null(srun.program[0]);
        aspt_srun_clear(&srun);
    }
}

static void test_srun_make(void **state)
{
    static const char *const left_out[] = {"ntasks", "async-progress", NULL};
    static const char *const expected[] = {
        "srun", "--async-progress=off", "-N2", "-l", "app", "-n", NULL};
    static const char *const words[] = {
        "srun", "-N2", "-ln", "8", "--async-progress=ghost", "app", "-n", NULL};
    char off[] = "--async-progress=off", *added[] = {off, NULL};
    struct aspt_srun srun;
    char **made;
    size_t i;

    (void) state;
    assert_int_equal(aspt_srun_parse((char **) (uintptr_t) words, &srun), 0);
    made = aspt_srun_make(&srun, added, left_out);
    assert_non_null(made);
    for (i = 0; expected[i]; i++)
        assert_string_equal(made[i], expected[i]);
    assert_null(made[i]);
    assert_string_equal(aspt_srun_find(&srun, "ntasks")->value, "8");
    assert_null(aspt_srun_find(&srun, "time"));
    free(made);
    aspt_srun_clear(&srun);
}

static void test_minutes(void **state)
{
    static const struct {
        const char *text;
        unsigned long minutes;
    } times[] = {{"5", 5},         {"5:30", 6},      {"1:00:01", 61},
                 {"1-0", 1440},    {"1-1:30", 1530}, {"1-0:0:1", 1441},
                 {"UNLIMITED", 0}, {"", 0},          {"5:", 0},
                 {"1-", 0},        {"1:2:3:4:5", 0}, {"5 ", 0},
                 {"1-2-3", 0}};

    (void) state;
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
        assert_int_equal(aspt_srun_minutes(times[i].text), times[i].minutes);
}

static void test_cpus(void **state)
{
    (void) state;
    assert_int_equal(aspt_srun_cpus("4(x2),3"), 11);
    assert_int_equal(aspt_srun_cpus("72"), 72);
    assert_int_equal(aspt_srun_cpus("4(x"), 0);
    assert_int_equal(aspt_srun_cpus("many"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_critical_values),
        cmocka_unit_test(test_exact_confidence),
        cmocka_unit_test(test_verdicts),
        cmocka_unit_test(test_saved),
        cmocka_unit_test(test_too_few),
        cmocka_unit_test(test_many_runs),
        cmocka_unit_test(test_coverage),
        cmocka_unit_test(test_median),
        cmocka_unit_test(test_srun_lines),
        cmocka_unit_test(test_srun_make),
        cmocka_unit_test(test_minutes),
        cmocka_unit_test(test_cpus),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
