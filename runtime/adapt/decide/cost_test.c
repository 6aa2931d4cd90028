/* SPDX-License-Identifier: BSD-3-Clause */
/* What the prices say of demands as programs have them. */
#include "config.h"

#include "cost.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* A second of 8 users and 2 ghosts. */
static struct aspx_workload second(void)
{
    return (struct aspx_workload){
        .users = 8, .ghosts = 2, .user_s = 8, .ghost_s = 2, .wait_s = 8};
}

static enum aspx_cheaper cheaper(const struct aspx_workload *workload)
{
    const struct aspx_cost cost = {.scale = 1};

    return aspx_cost_forecast(&cost, workload).cheaper;
}

static void test_adds_up(void **state)
{
    struct aspx_workload sum = second(), more = second();

    (void) state;
    more.ops[ASPX_KIND_GET] = 100;
    more.ops[ASPX_KIND_ACC] = 60;
    more.outside_s2 = 4;
    aspx_workload_add(&sum, &more);
    assert_true(sum.users == 16 && sum.user_s == 16 && sum.outside_s2 == 4);
    assert_true(aspx_workload_ops(&sum) == 160);
    /* 160 in 16 user-seconds of 16 users: in one second. */
    assert_true(aspx_workload_rate(&sum) == 160);
    assert_true(aspx_workload_rate(&(struct aspx_workload){0}) == 0);
}

/* One stay of half the time: met half of the time, half of it left. */
static void test_delay(void **state)
{
    struct aspx_workload d = {.users = 1, .user_s = 2, .outside_s2 = 1};

    (void) state;
    assert_true(aspx_workload_delay(&d) == 0.25);
}

/* Targets sleep 10 ms at a time, and somebody waits for each of his Gets. */
static void test_sleeping_targets(void **state)
{
    struct aspx_workload d = second();

    (void) state;
    d.ops[ASPX_KIND_GET] = d.waits = 800;
    d.outside_s2 = 8 * 100 * 0.01 * 0.01;
    assert_int_equal(cheaper(&d), ASPX_CHEAPER_GHOSTS);
    /* Nobody waits for them one by one; and too rare to matter. */
    d.waits = 8;
    assert_int_equal(cheaper(&d), ASPX_CHEAPER_NEITHER);
}

/* The same targets, but ranks were not seen to wait for them, which is worth
 * more than what the prices say; and it tells nothing of the other way. */
static void test_seen_not_to_wait(void **state)
{
    struct aspx_workload d = second();

    (void) state;
    d.ops[ASPX_KIND_GET] = d.waits = 800;
    d.outside_s2 = 8 * 100 * 0.01 * 0.01;
    d.wait_s = 0.01;
    assert_int_equal(cheaper(&d), ASPX_CHEAPER_NEITHER);
    d.redirected = 800;
    assert_int_equal(cheaper(&d), ASPX_CHEAPER_GHOSTS);
    d.redirected = 400;
    assert_int_equal(cheaper(&d), ASPX_CHEAPER_GHOSTS);
    /* With ghosts, who are said to be in the way. */
    d = second();
    d.ops[ASPX_KIND_ACC] = d.waits = d.redirected = 8e5;
    d.bytes[ASPX_KIND_ACC] = 8e5 * 4096;
    assert_int_equal(cheaper(&d), ASPX_CHEAPER_TARGETS);
    d.wait_s = 0.1;
    assert_int_equal(cheaper(&d), ASPX_CHEAPER_NEITHER);
}

/* Large accumulates between ranks that are always in MPI: 8 handle faster than
 * 2. */
static void test_many_accumulates(void **state)
{
    struct aspx_workload d = second();

    (void) state;
    d.ops[ASPX_KIND_ACC] = 8e5;
    d.bytes[ASPX_KIND_ACC] = 8e5 * 4096;
    d.waits = 8e5;
    assert_int_equal(cheaper(&d), ASPX_CHEAPER_TARGETS);
    /* As many ghosts as users. */
    d.ghosts = d.ghost_s = 8;
    assert_int_equal(cheaper(&d), ASPX_CHEAPER_NEITHER);
}

static void test_nothing(void **state)
{
    struct aspx_workload d = second();

    (void) state;
    assert_int_equal(cheaper(&d), ASPX_CHEAPER_NEITHER);
    d.ghosts = 0;
    d.ops[ASPX_KIND_ACC] = 1e6;
    assert_int_equal(cheaper(&d), ASPX_CHEAPER_NEITHER);
    assert_int_equal(cheaper(&(struct aspx_workload){0}), ASPX_CHEAPER_NEITHER);
}

/* Ghosts take five times what the table says, on half of the operations. */
static void test_learns(void **state)
{
    struct aspx_cost cost = {.scale = 1};
    struct aspx_workload d = second();
    double with_s;

    (void) state;
    d.ops[ASPX_KIND_ACC] = 1e5;
    with_s = aspx_cost_forecast(&cost, &d).with_s;
    d.redirected = 5e4;
    d.busy_s = 5 * with_s * 8 / 2 * 0.98;
    for (int i = 0; i < 40; i++)
        aspx_cost_learn(&cost, &d);
    assert_true(cost.scale > 4.5 && cost.scale < 5.5);
    d.redirected = 10; /* says nothing */
    d.busy_s = 1;
    aspx_cost_learn(&cost, &d);
    assert_true(cost.scale < 5.5);
    d.redirected = 5e4;
    d.busy_s = 1e6;
    for (int i = 0; i < 100; i++)
        aspx_cost_learn(&cost, &d);
    assert_true(cost.scale <= 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_adds_up),
        cmocka_unit_test(test_delay),
        cmocka_unit_test(test_sleeping_targets),
        cmocka_unit_test(test_seen_not_to_wait),
        cmocka_unit_test(test_many_accumulates),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_learns),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
