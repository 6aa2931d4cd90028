/* SPDX-License-Identifier: BSD-3-Clause */
/* The decisions about programs whose phases are known. */
#include "config.h"

#include "job_controller.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { USERS = 8, GHOSTS = 2 };

/* What a program does, and how fast, with ghosts and without. */
struct phase {
    double on, off; /* operations per second */
    double wish;    /* share of the time that the predictor wants ghosts */
    double delay;   /* seconds a target is away, half of the time; 0: never */
    double mpi;     /* share of the time in MPI */
    double alone;   /* operations per second as the predictor switches, if it
                       is of two minds; 0: it is not */
    enum { DEAF = 1 /* switching changes nothing */ } is;
};

struct run {
    struct aspx_job_controller job;
    double now, right_s, wrong_s;
};

static uint32_t seed;

static double noise(double most)
{
    seed = seed * 1664525 + 1013904223;
    return 1 + most * ((double) (seed >> 8) / (1 << 23) - 1);
}

static void begin(struct run *run)
{
    *run = (struct run){.now = 5000};
    seed = 1;
    aspx_job_controller_begin(&run->job, run->now, ASP_THREADS_AUTO);
}

/* Let the phase go on for so long. */
static void pass(struct run *run, const struct phase *phase, double seconds)
{
    double end = run->now + seconds;

    while (run->now < end) {
        struct aspx_round order = aspx_job_controller_next(&run->job);
        bool ordered = aspx_order_overrules(order.order);
        bool on = ordered ? order.order == ASPX_ORDER_ON : phase->wish > 0.5;
        bool alone = !ordered && phase->alone > 0;
        double s = order.seconds, rate = alone                    ? phase->alone
                                         : on || phase->is & DEAF ? phase->on
                                                                  : phase->off;
        double ops = s * rate * noise(0.1);
        struct aspx_workload d = {
            .users = USERS,
            .ghosts = GHOSTS,
            .user_s = USERS * s,
            .ghost_s = GHOSTS * s,
            .mpi_s = phase->mpi * USERS * s,
            .wait_s = phase->mpi * USERS * s,
            .wanted_s = phase->wish * USERS * s,
            .waits = ops,
            .outside_s2 = USERS * s * 0.5 * phase->delay,
            .busy_s = on ? 0.5e-6 * ops : 0,
            .redirected = alone ? phase->wish * ops
                          : on  ? ops
                                : 0,
        };

        d.ops[ASPX_KIND_GET] = ops;
        d.bytes[ASPX_KIND_GET] = 8 * ops;
        if (phase->is & DEAF)
            d.redirected = ops;
        *((phase->on >= phase->off) == on ? &run->right_s : &run->wrong_s) += s;
        run->now += s + 0.01;
        aspx_job_controller_round(&run->job, run->now, &d);
    }
}

/* Was it ever decided so? Returns the time; fails if not. */
static double decision_of(const struct run *run, enum aspx_decision_kind to,
                          const char *why)
{
    const struct aspx_decisions *all = &run->job.decisions;

    for (uint32_t i = 0; i < all->n; i++)
        if (all->list[i].to == (int32_t) to && strstr(all->list[i].why, why))
            return all->list[i].t_s;
    for (uint32_t i = 0; i < all->n; i++)
        print_message("%.2f %s: %s\n", all->list[i].t_s,
                      aspx_decision_name(all->list[i].to), all->list[i].why);
    fail_msg("no decision %s: %s", aspx_decision_name((int32_t) to), why);
    return 0;
}

/* Ranks that only communicate, which the predictor sees, or does not. */
static void test_ghosts_in_the_way(void **state)
{
    static const struct phase seen = {1e5, 4e5, 0, 0, 1, 0, 0},
                              unseen = {1e5, 4e5, 1, 0, 0.6, 0, 0};
    struct run run;

    (void) state;
    begin(&run);
    pass(&run, &seen, 2);
    decision_of(&run, ASPX_DECISION_TRIAL, "");
    decision_of(&run, ASPX_DECISION_OFF, "faster without");
    assert_int_equal(run.job.order, ASPX_ORDER_LOW_THRESHOLD);
    begin(&run);
    pass(&run, &unseen, 2);
    assert_true(decision_of(&run, ASPX_DECISION_OFF, "faster without") < 2);
    assert_int_equal(run.job.order, ASPX_ORDER_OFF);
    /* And so it stays, at a small price. */
    pass(&run, &unseen, 60);
    assert_int_equal(run.job.order, ASPX_ORDER_OFF);
    assert_true(run.wrong_s < 0.03 * run.right_s);
}

static void test_ghosts_help(void **state)
{
    static const struct phase sleeping = {1e5, 2e2, 1, 0.01, 0.3, 0, 0},
                              unseen = {1e5, 2e2, 0, 0.01, 0.95, 0, 0},
                              stuck = {1e4, 1e2, 0, 0.02, 0.95, 0, 0};
    struct run run;

    (void) state;
    begin(&run);
    pass(&run, &sleeping, 60);
    decision_of(&run, ASPX_DECISION_ON, "faster with ghosts");
    assert_true(run.wrong_s < 0.03 * run.right_s);
    begin(&run);
    pass(&run, &unseen, 60);
    assert_true(decision_of(&run, ASPX_DECISION_ON, "faster with ghosts") < 2);
    assert_int_equal(run.job.order, ASPX_ORDER_ON);
    assert_true(run.wrong_s < 0.03 * run.right_s);
    begin(&run);
    pass(&run, &stuck, 3);
    assert_true(decision_of(&run, ASPX_DECISION_ON, "faster with ghosts") < 2);
}

/* What makes no difference rests. */
static void test_no_difference(void **state)
{
    static const struct phase same = {1e5, 1e5, 1, 0, 0.3, 0, 0},
                              ineffective = {1e5, 1e5, 1, 0, 0.3, 0, DEAF};
    struct run run;
    uint32_t ended = 0;

    (void) state;
    for (uint32_t s = 0; s < 20; s++) {
        begin(&run);
        seed = 77 * s;
        pass(&run, &same, 2);
        ended += run.job.order == ASPX_ORDER_OFF;
    }
    assert_true(ended > 15); /* noise of 10 % may leave it undecided */
    begin(&run);
    pass(&run, &ineffective, 2);
    decision_of(&run, ASPX_DECISION_PREDICTOR, "no legal point");
    assert_int_equal(run.job.order, ASPX_ORDER_NONE);
}

/* An order is taken back when the phase that it was made for is over. */
static void test_phases(void **state)
{
    static const struct phase talk = {1e5, 4e5, 1, 0, 0.6, 0, 0},
                              compute = {2e4, 3e2, 1, 0.01, 0.2, 0, 0},
                              seen = {1e5, 4e5, 0, 0, 1, 0, 0};
    struct run run;

    (void) state;
    begin(&run);
    pass(&run, &talk, 5);
    assert_int_equal(run.job.order, ASPX_ORDER_OFF);
    pass(&run, &compute, 1);
    decision_of(&run, ASPX_DECISION_PREDICTOR, "another phase");
    assert_int_not_equal(run.job.order, ASPX_ORDER_OFF);
    begin(&run);
    pass(&run, &talk, 5);
    pass(&run, &seen, 1);
    assert_int_equal(run.job.order, ASPX_ORDER_LOW_THRESHOLD);
    assert_int_equal(run.job.trials, 2);
    pass(&run, &talk, 1); /* known */
    assert_int_equal(run.job.trials, 2);
    assert_int_equal(run.job.order, ASPX_ORDER_OFF);
    decision_of(&run, ASPX_DECISION_OFF, "as in the trial");
    /* For ever: trials have to stay rare. */
    begin(&run);
    for (int i = 0; i < 100; i++) {
        pass(&run, &compute, 1);
        pass(&run, &seen, 1);
    }
    assert_true(run.job.trials_s < 0.05 * (run.now - 5000) + 1);
    assert_true(run.wrong_s < 0.1 * run.right_s);
    assert_true(run.job.decisions.n <= ASPX_DECISIONS);
}

/* A phase that is tried again after a long time: what was found last counts. */
static void test_learns_anew(void **state)
{
    static const struct phase slow = {1e5, 4e5, 1, 0, 0.6, 0, 0},
                              other = {1e3, 1e3, 1, 0, 0.6, 0, DEAF};
    struct phase fast = {4e5, 1e5, 1, 0, 0.6, 0, 0};
    struct run run;

    (void) state;
    fast.on = 1.5e5;
    fast.off = 3e4;
    begin(&run);
    pass(&run, &slow, 5);
    assert_int_equal(run.job.order, ASPX_ORDER_OFF);
    pass(&run, &fast, 700); /* of much the same rate, with ghosts */
    decision_of(&run, ASPX_DECISION_ON, "faster with ghosts");
    assert_int_equal(run.job.nresults, 1);
    pass(&run, &other, 5);
    pass(&run, &fast, 2);
    assert_int_equal(run.job.order, ASPX_ORDER_NONE);
}

/* The predictor tells ranks apart, or phases shorter than a trial, and is left
 * alone; or it cannot make up its vote, whether by a little more or less. */
static void test_mixed(void **state)
{
    static const struct phase apart = {1e5, 1.5e5, 0.6, 0.001, 0.6, 3e5, 0},
                              same = {1e5, 1e5, 0.6, 0.001, 0.6, 1e5, 0},
                              idle = {1e5, 1e5, 0.6, 0.001, 0.6, 5e4, 0};
    static const double shares[] = {0.4, 0.6};
    struct run run;

    (void) state;
    begin(&run);
    pass(&run, &apart, 10);
    decision_of(&run, ASPX_DECISION_PREDICTOR, "tells ranks or phases apart");
    decision_of(&run, ASPX_DECISION_PREDICTOR, "faster as predicted");
    assert_int_equal(run.job.order, ASPX_ORDER_NONE);
    assert_int_equal(run.job.trials, 1);
    begin(&run);
    pass(&run, &same, 10);
    assert_int_equal(run.job.order, ASPX_ORDER_LOW_THRESHOLD);
    /* On and off are the same, and it switches for nothing, which costs. */
    begin(&run);
    pass(&run, &idle, 3);
    assert_int_equal(run.job.order, ASPX_ORDER_OFF);
    for (size_t i = 0; i < 2; i++) {
        struct phase torn = {1e5, 4e5, shares[i], 0.001, 0.6, 2e5, 0};

        begin(&run);
        pass(&run, &torn, 2);
        decision_of(&run, ASPX_DECISION_TRIAL, "off");
        decision_of(&run, ASPX_DECISION_OFF,
                    "faster without; predictor over off");
        assert_int_equal(run.job.order, ASPX_ORDER_OFF);
        pass(&run, &torn, 60);
        assert_int_equal(run.job.order, ASPX_ORDER_OFF);
        assert_int_equal(run.job.trials, 1);
        torn.off = 1e4;
        torn.alone = 5e4;
        begin(&run);
        pass(&run, &torn, 2);
        decision_of(&run, ASPX_DECISION_ON,
                    "faster with ghosts; on over predictor");
        assert_int_equal(run.job.order, ASPX_ORDER_ON);
    }
}

static void test_silence(void **state)
{
    static const struct phase threads = {0, 0, 1, 0.01, 0.4, 0, 0},
                              nothing = {0, 0, 1, 1, 0, 0, 0},
                              help = {1e5, 1e2, 1, 0.01, 0.3, 0, 0};
    struct run run;

    (void) state;
    begin(&run);
    pass(&run, &threads, 10);
    assert_true(decision_of(&run, ASPX_DECISION_NOTHING, "in MPI for 40 % of") <
                4);
    assert_int_equal(run.job.decisions.n, 1);
    pass(&run, &help, 3);
    decision_of(&run, ASPX_DECISION_ON, "faster with ghosts");
    begin(&run);
    pass(&run, &nothing, 10);
    decision_of(&run, ASPX_DECISION_NOTHING, "first 2 s");
    begin(&run);
    aspx_job_controller_begin(&run.job, run.now, ASP_THREADS_OFF);
    pass(&run, &threads, 10);
    decision_of(&run, ASPX_DECISION_NOTHING, "first 2 s");
    /* Operations cease during the trial. */
    begin(&run);
    pass(&run, &help, 0.4);
    assert_int_equal(run.job.state, ASPX_JOB_TRIAL);
    pass(&run, &nothing, 1);
    assert_int_equal(run.job.state, ASPX_JOB_HOLD);
    decision_of(&run, ASPX_DECISION_PREDICTOR, "ceased");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ghosts_in_the_way),
        cmocka_unit_test(test_ghosts_help),
        cmocka_unit_test(test_no_difference),
        cmocka_unit_test(test_phases),
        cmocka_unit_test(test_learns_anew),
        cmocka_unit_test(test_mixed),
        cmocka_unit_test(test_silence),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
