/* SPDX-License-Identifier: BSD-3-Clause */
/* Progress threads for programs of which it is known what they are worth. */
#include "config.h"

#include "thread_controller.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { USERS = 8 };

/* A program in steps: of so many seconds with threads and without, in each of
 * which a rank posts so many large threads. */
struct phase {
    double on_s, off_s;
    double large;
    double mpi; /* share of the time in MPI, without threads */
    double ops; /* one-sided operations of all, per second */
};

struct run {
    struct aspx_thread_controller threads;
    struct aspx_decisions all;
    double now;
    double steps; /* that the program has done; posts are at whole numbers */
    double on_s, counted_s; /* time with threads at work, and at rest */
};

static uint32_t seed;

static double noise(double most)
{
    seed = seed * 1664525 + 1013904223;
    return 1 + most * ((double) (seed >> 8) / (1 << 23) - 1);
}

static void begin(struct run *run, enum asp_threads mode)
{
    *run = (struct run){.now = 700};
    aspx_thread_controller_begin(&run->threads, run->now, mode);
}

static void pass(struct run *run, const struct phase *phase, double seconds)
{
    double end = run->now + seconds;

    while (run->now < end) {
        enum aspx_help help = aspx_thread_controller_help(&run->threads);
        double s = aspx_thread_controller_round_s(&run->threads),
               before = run->steps;
        double share = help == ASPX_HELP_ON
                           ? phase->mpi * phase->on_s / phase->off_s
                           : phase->mpi;
        struct aspx_workload d = {.users = USERS,
                                  .user_s = USERS * s,
                                  .ghosts = 2,
                                  .mpi_s = USERS * s * share};

        run->steps += s * noise(0.05) /
                      (help == ASPX_HELP_ON ? phase->on_s : phase->off_s);
        d.ops[ASPX_KIND_PUT] = phase->ops * s;
        if (help != ASPX_HELP_NONE)
            d.bursts = USERS * (floor(run->steps) - floor(before));
        d.large = phase->large * d.bursts;
        run->on_s += help == ASPX_HELP_ON ? s : 0;
        run->counted_s += help == ASPX_HELP_COUNT ? s : 0;
        run->now += s + 0.01;
        aspx_thread_controller_round(&run->threads, run->now, &d, &run->all,
                                     700);
    }
}

static double decision_of(const struct run *run, enum aspx_decision_kind to,
                          const char *why)
{
    for (uint32_t i = 0; i < run->all.n; i++)
        if (run->all.list[i].to == (int32_t) to &&
            strstr(run->all.list[i].why, why))
            return run->all.list[i].t_s;
    for (uint32_t i = 0; i < run->all.n; i++)
        print_message("%.2f %s: %s\n", run->all.list[i].t_s,
                      aspx_decision_name(run->all.list[i].to),
                      run->all.list[i].why);
    fail_msg("no decision %s: %s", aspx_decision_name((int32_t) to), why);
    return 0;
}

static const struct phase halo = {0.004, 0.005, 4, 0.2, 0},
                          useless = {0.005, 0.005, 4, 0.2, 0},
                          harm = {0.006, 0.005, 4, 0.2, 0},
                          small = {0.001, 0.001, 0, 0.6, 0},
                          seldom = {0.9, 1.2, 8, 0.3, 0},
                          alone = {0.001, 0.001, 4, 0.01, 0},
                          counter = {0.004, 0.005, 4, 0.2, 20},
                          onesided = {0.005, 0.005, 4, 0.2, 1e4};

static void test_threads_help(void **state)
{
    static const struct phase slow = {0.07, 0.1, 6, 0.3, 0};
    struct run run;
    uint32_t right = 0;

    (void) state;
    for (uint32_t s = 0; s < 20; s++) {
        begin(&run, ASP_THREADS_AUTO);
        seed = s;
        pass(&run, &halo, 60);
        assert_true(decision_of(&run, ASPX_DECISION_THREADS, "faster with") <
                    4);
        assert_int_equal(aspx_thread_controller_help(&run.threads),
                         ASPX_HELP_ON);
        assert_int_equal(run.all.n, 2);
        /* In long steps: it takes much, and is never wrong. */
        begin(&run, ASP_THREADS_AUTO);
        seed = s;
        pass(&run, &slow, 100);
        right += aspx_thread_controller_help(&run.threads) == ASPX_HELP_ON;
        for (uint32_t i = 0; i < run.all.n; i++)
            assert_null(strstr(run.all.list[i].why, "faster without"));
    }
    assert_true(right >= 10);
}

/* Off again within 2 s, and little time is lost over it later. (Counts of whole
 * steps may say 5 % by chance, and it stays on for nothing.) */
static void test_threads_do_not_help(void **state)
{
    static const struct phase *const kinds[] = {&useless, &harm};
    struct run run;
    double on_s = 0;

    (void) state;
    for (uint32_t s = 0; s < 20; s++)
        for (size_t k = 0; k < 2; k++) {
            begin(&run, ASP_THREADS_AUTO);
            seed = s;
            pass(&run, kinds[k], 6);
            decision_of(&run, ASPX_DECISION_PLAIN, k ? "faster without" : "");
            assert_int_equal(aspx_thread_controller_help(&run.threads),
                             ASPX_HELP_NONE);
            assert_true(run.on_s < 2);
            pass(&run, kinds[k], 600);
            on_s += run.on_s;
        }
    assert_true(on_s < 0.02 * 40 * 606);
}

/* Nothing is tried where there is nothing to work for. */
static void test_nothing_to_work_for(void **state)
{
    struct run run;

    (void) state;
    begin(&run, ASP_THREADS_AUTO);
    pass(&run, &small, 600);
    decision_of(&run, ASPX_DECISION_NOTHING, "ranks are in MPI for 60 %");
    assert_int_equal(run.all.n, 1);
    assert_true(run.on_s == 0 && run.counted_s < 0.02 * 600);
    begin(&run, ASP_THREADS_AUTO);
    pass(&run, &small, 60);
    assert_true(run.counted_s < 0.06 * 60);
    begin(&run, ASP_THREADS_AUTO);
    pass(&run, &seldom, 200);
    decision_of(&run, ASPX_DECISION_TRIAL, "");
    begin(&run, ASP_THREADS_AUTO);
    pass(&run, &alone, 100);
    assert_int_equal(run.all.n, 0);
    assert_true(run.on_s == 0 && run.counted_s == 0);
    pass(&run, &halo, 5);
    decision_of(&run, ASPX_DECISION_THREADS, "");
}

/* Of 64 ranks that post one message in each long step, in which threads make no
 * difference, few are found to be faster: counts come in steps. */
static void test_coarse_counts(void **state)
{
    struct phase same = {0, 0, 1, 0.2, 0};
    struct run run;

    (void) state;
    for (same.on_s = 0.05; same.on_s < 0.3; same.on_s += 0.03) {
        uint32_t wrong = 0;

        same.off_s = same.on_s;
        for (uint32_t s = 0; s < 200; s++) {
            begin(&run, ASP_THREADS_AUTO);
            seed = s;
            pass(&run, &same, 12);
            wrong += aspx_thread_controller_help(&run.threads) == ASPX_HELP_ON;
        }
        if (wrong > 10)
            fail_msg("%u of 200 with steps of %.2f s", wrong, same.on_s);
    }
}

/* What is held is given up when there is nothing to work for, and comes again.
 */
static void test_idle(void **state)
{
    struct run run;

    (void) state;
    begin(&run, ASP_THREADS_AUTO);
    pass(&run, &halo, 10);
    assert_int_equal(aspx_thread_controller_help(&run.threads), ASPX_HELP_ON);
    pass(&run, &small, 8);
    run.counted_s = run.on_s = 0;
    pass(&run, &small, 200);
    assert_true(run.on_s == 0 && run.counted_s < 12);
    begin(&run, ASP_THREADS_AUTO);
    pass(&run, &halo, 10);
    pass(&run, &small, 5.5);
    pass(&run, &halo, 3);
    assert_int_equal(aspx_thread_controller_help(&run.threads), ASPX_HELP_ON);
    assert_int_equal(run.all.n, 2);
    /* And it is looked at anew after a long time. */
    pass(&run, &halo, 400);
    assert_int_equal(run.all.n, 4);
    assert_int_equal(aspx_thread_controller_help(&run.threads), ASPX_HELP_ON);
}

/* Ghosts that have work have their CPU for themselves. */
static void test_onesided_comes_first(void **state)
{
    struct run run;

    (void) state;
    for (double t = 0.3; t < 6; t += 0.3) { /* whatever it is at */
        begin(&run, ASP_THREADS_AUTO);
        pass(&run, &halo, t);
        pass(&run, &onesided, 0.5);
        assert_int_equal(aspx_thread_controller_help(&run.threads),
                         ASPX_HELP_NONE);
        pass(&run, &onesided, 10);
        assert_true(run.on_s < t + 0.6);
    }
    decision_of(&run, ASPX_DECISION_PLAIN, "one-sided operations have begun");
    run.on_s = 0;
    pass(&run, &halo, 6);
    assert_true(run.on_s > 4); /* without another trial */
    assert_int_equal(run.all.n, 3);
    /* A counter that is fetched now and then changes nothing. */
    begin(&run, ASP_THREADS_AUTO);
    for (int i = 0; i < 100; i++) {
        pass(&run, &halo, 1);
        pass(&run, &counter, 0.05);
    }
    assert_int_equal(run.all.n, 2);
    assert_int_equal(aspx_thread_controller_help(&run.threads), ASPX_HELP_ON);
    /* Nor do programs that do both write their history for ever. */
    for (int i = 0; i < 100; i++) {
        pass(&run, &halo, 3);
        pass(&run, &onesided, 3);
    }
    assert_true(run.all.n < 10);
}

/* Another phase is tried anew, without end but seldom. */
static void test_phases(void **state)
{
    static const struct phase fast = {0.0012, 0.001, 4, 0.2, 0};
    struct run run;

    (void) state;
    begin(&run, ASP_THREADS_AUTO);
    pass(&run, &halo, 60);
    run.on_s = 0;
    pass(&run, &fast, 60);
    decision_of(&run, ASPX_DECISION_PLAIN, "faster without");
    assert_int_equal(aspx_thread_controller_help(&run.threads), ASPX_HELP_NONE);
    assert_true(run.on_s < 20); /* it had been tried a while ago */
    for (int i = 0; i < 200; i++) {
        pass(&run, &halo, 1);
        pass(&run, &fast, 1);
    }
    assert_true(run.all.n + run.all.more < 40);
}

static void test_knob(void **state)
{
    struct run run;

    (void) state;
    begin(&run, ASP_THREADS_OFF);
    pass(&run, &halo, 60);
    assert_true(run.on_s == 0 && run.counted_s == 0);
    begin(&run, ASP_THREADS_ON);
    assert_int_equal(aspx_thread_controller_help(&run.threads), ASPX_HELP_ON);
    pass(&run, &halo, 1);
    assert_int_equal(aspx_thread_controller_help(&run.threads), ASPX_HELP_ON);
    pass(&run, &onesided, 1);
    assert_int_equal(aspx_thread_controller_help(&run.threads), ASPX_HELP_NONE);
    pass(&run, &halo, 0.2);
    assert_int_equal(aspx_thread_controller_help(&run.threads), ASPX_HELP_ON);
    assert_int_equal(run.all.n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads_help),
        cmocka_unit_test(test_threads_do_not_help),
        cmocka_unit_test(test_nothing_to_work_for),
        cmocka_unit_test(test_coarse_counts),
        cmocka_unit_test(test_idle),
        cmocka_unit_test(test_onesided_comes_first),
        cmocka_unit_test(test_phases),
        cmocka_unit_test(test_knob),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
