/* SPDX-License-Identifier: BSD-3-Clause */
/* Real processes on one CPU, and what is made of what the kernel says. */
#include "config.h"

#include "cpu_wait.h"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void sleep_s(double seconds)
{
    const struct timespec time = {
        (time_t) seconds, (long) (1e9 * (seconds - (double) (time_t) seconds))};

    nanosleep(&time, NULL);
}

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double) now.tv_sec + 1e-9 * (double) now.tv_nsec;
}

/* Children on the first CPU that we may use; none outlives us. */
static void be_child(bool spins)
{
    cpu_set_t cpus, one;

    (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
    CPU_ZERO(&one);
    if (sched_getaffinity(0, sizeof(cpus), &cpus) == 0)
        for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; cpu++)
            if (CPU_ISSET(cpu, &cpus))
                CPU_SET(cpu, &one);
    if (sched_setaffinity(0, sizeof(one), &one) != 0)
        _exit(1);
    for (;;)
        if (!spins)
            pause();
}

enum { CHILDREN_MOST = 3 };
struct children {
    int n;
    pid_t pid[CHILDREN_MOST];
};

static struct children start(int n, bool spin)
{
    struct children all = {.n = n};

    for (int i = 0; i < n; i++) {
        all.pid[i] = fork();
        assert_true(all.pid[i] >= 0);
        if (all.pid[i] == 0)
            be_child(spin);
    }
    sleep_s(0.05);
    return all;
}

static void stop_children(const struct children *all)
{
    for (int i = 0; i < all->n; i++) {
        kill(all->pid[i], SIGKILL);
        waitpid(all->pid[i], NULL, 0);
    }
}

/* The part of some time for which a process waited for a CPU, if it spent
 * `inside` of it in MPI. */
static double lost_of(pid_t pid, double inside)
{
    const double begin = now_s();
    struct aspx_cpu_wait wait;
    double lost, now = begin;

    aspx_cpu_wait_open(&wait, pid);
    aspx_cpu_wait_begin(&wait, begin, 0);
    while (now < begin + 0.5 ||
           !aspx_cpu_wait_look(&wait, now, inside * (now - begin))) {
        sleep_s(0.01);
        now = now_s();
        (void) aspx_cpu_wait_look(&wait, now, inside * (now - begin));
    }
    lost = wait.lost_s;
    aspx_cpu_wait_close(&wait);
    return lost / (now - begin);
}

static void needs_kernel(void)
{
    struct aspx_cpu_wait wait;
    bool known;

    aspx_cpu_wait_open(&wait, getpid());
    aspx_cpu_wait_begin(&wait, 0, 0);
    known = wait.begun;
    aspx_cpu_wait_close(&wait);
    if (!known)
        skip(); /* a kernel that does not count */
}

static void test_who_shares_a_cpu_waits(void **state)
{
    struct children all;
    double computes, half, talks;

    (void) state;
    needs_kernel();
    all = start(3, true);
    computes = lost_of(all.pid[0], 0);
    half = lost_of(all.pid[0], 0.5);
    talks = lost_of(all.pid[0], 1);
    stop_children(&all);
    assert_true(computes > 0.5 && computes < 1); /* two thirds, and others */
    assert_true(half > 0.02 && half < 0.5);      /* a third */
    assert_true(talks < 0.01);
}

static void test_who_sleeps_does_not_wait(void **state)
{
    const struct children all = start(1, false);
    double lost = lost_of(all.pid[0], 0);

    (void) state;
    stop_children(&all);
    assert_true(lost < 0.2);
}

static void test_oneself(void **state)
{
    (void) state;
    assert_true(lost_of(getpid(), 1) < 0.01);
    assert_true(lost_of(getpid(), 0) < 1);
}

static void test_of_nobody_nothing_is_known(void **state)
{
    const struct children all = start(1, false);
    struct aspx_cpu_wait none = ASPX_CPU_WAIT_NOBODY;

    (void) state;
    stop_children(&all);
    assert_true(lost_of(all.pid[0], 0) == 0);
    assert_true(lost_of(0, 0) == 0);
    aspx_cpu_wait_begin(&none, 0, 0);
    assert_true(aspx_cpu_wait_look(&none, 1, 0));
    assert_true(none.lost_s == 0);
    aspx_cpu_wait_close(&none);
}

/* Stopped by the scheduler for so long as nobody can see here: but who has not
 * begun, or begins anew, has lost nothing. */
static void test_what_was_before_does_not_count(void **state)
{
    const struct children all = start(2, true);
    struct aspx_cpu_wait wait;

    (void) state;
    aspx_cpu_wait_open(&wait, all.pid[0]);
    assert_true(aspx_cpu_wait_look(&wait, now_s(), 0));
    sleep_s(0.1);
    assert_true(aspx_cpu_wait_look(&wait, now_s(), 0));
    aspx_cpu_wait_begin(&wait, now_s(), 0);
    assert_true(wait.lost_s == 0);
    aspx_cpu_wait_close(&wait);
    stop_children(&all);
    assert_int_not_equal(aspx_cpu_wait_namespace(), 0);
}

static void test_what_a_look_is_made_of(void **state)
{
    static const struct {
        struct aspx_cpu_wait_look look;
        double lost;
        bool may_go_on;
    } table[] = {
        /* passed, outside, ran, waited */
        {{20, 4, 16, 4}, 0.8, false},  /* inside as well as outside */
        {{5, 4, 1, 4}, 3.2, false},    /* talked, and lost its CPU */
        {{5, 4, 1, 0}, 0, true},       /* the same, or it sleeps */
        {{5, 4, 4, 0}, 0, false},      /* computes, and is charged late */
        {{5, 0.4, 1, 0}, 0, false},    /* inside, which is enough */
        {{20, 20, 20, 0}, 0, false},   /* computes */
        {{20, 20, 10, 10}, 10, false}, /* and shares its CPU */
        {{20, 8, 10, 10}, 4, false},   /* iterations that are short */
        {{20, 5, 0, 25}, 5, false},    /* clocks differ */
        {{20, -1, 0, 25}, 0, false},
        {{20, 40, 5, 15}, 15, false}, /* time inside was taken back */
        {{20, 20, 0, 20}, 18, false}, /* starves */
    };

    (void) state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        double error = aspx_cpu_wait_lost(&table[i].look) - table[i].lost;

        assert_true(error < 1e-9 && error > -1e-9);
        assert_int_equal(aspx_cpu_wait_may_go_on(&table[i].look),
                         table[i].may_go_on);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_who_shares_a_cpu_waits),
        cmocka_unit_test(test_who_sleeps_does_not_wait),
        cmocka_unit_test(test_oneself),
        cmocka_unit_test(test_of_nobody_nothing_is_known),
        cmocka_unit_test(test_what_was_before_does_not_count),
        cmocka_unit_test(test_what_a_look_is_made_of),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
