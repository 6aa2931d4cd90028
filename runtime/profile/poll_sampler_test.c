/* SPDX-License-Identifier: BSD-3-Clause */
/* What the sampler finds, by a clock that the tests set. */
#include "config.h"

#include "runtime/base/clock.h"
#include "test_clock.h"
#include "poll_sampler.h"

static int turn_the_clock(void **state)
{
    (void) state;
    aspx_clock_other = turned_clock;
    aspx_clock_start();
    aspx_poll_sampler_start(ASPX_POLLS_COUNTED_FIRST);
    return 0;
}

/* An empty turn ends. Is it known to be a long wait? */
static bool long_wait(struct aspx_poll_sampler *sampler)
{
    return !aspx_poll_sampler_count(sampler, 0) &&
           aspx_poll_sampler_after(sampler, 0);
}

/* Where all long times are of one kind, it is known whose they are, but for a
 * slack of each, even if few of them were clocked. */
static void test_of_one_kind(void **state)
{
    struct aspx_poll_sampler sampler = {0};
    uint64_t began = now, worked = 0;

    (void) state;
    for (int i = 0; i < 50000; i++) {
        aspx_poll_sampler_before(&sampler);
        now += 60;
        (void) long_wait(&sampler);
        now += i % 77 ? 40 : 20000;
        worked += i % 77 ? 0 : 20000 - 40;
    }
    near((double) aspx_poll_sampler_finish(&sampler),
         (double) (now - began - worked), 0.03 * (double) worked);
}

/* The clock is read after the first polls, and then for few of them. */
static void test_few_readings(void **state)
{
    struct aspx_poll_sampler sampler = {0};
    uint64_t before = reads;
    unsigned told = 0;

    (void) state;
    for (int i = 0; i < 10000; i++) {
        aspx_poll_sampler_before(&sampler);
        now += 100;
        told += long_wait(&sampler);
        assert_true(i >= 31 || reads == before);
        assert_true(i >= 31 + 100 || !told); /* 10 us */
        assert_true(i < 31 + 100 + 65 || told);
    }
    assert_in_range(aspx_poll_sampler_finish(&sampler), 999900, 1000000);
    assert_in_range(reads - before, 10000 / 20, 10000 / 10);
}

/* Who looks on while it waits, as at ghosts, never sees it wait less than
 * before, though polls turn out to be shorter than thought. */
static void test_never_less(void **state)
{
    struct aspx_poll_sampler sampler = {0};
    uint64_t usual = aspx_poll_sampler_typical(), last = 0;

    (void) state;
    for (int i = 0; i < 10000; i++) {
        now += usual / 6;
        aspx_poll_sampler_before(&sampler);
        now += usual / 6;
        if (i < 5000 && i % 10 == 9)
            assert_true(aspx_poll_sampler_count(&sampler, 1));
        else
            (void) long_wait(&sampler);
        assert_true(aspx_poll_sampler_idle(&sampler) >= last);
        last = aspx_poll_sampler_idle(&sampler);
    }
    assert_true(aspx_poll_sampler_typical() < usual / 2);
}

/* Who blocks after a few polls only was waiting all the same. */
static void test_a_block_after_few_polls(void **state)
{
    struct aspx_poll_sampler sampler = {0};

    (void) state;
    for (int i = 0; i < 10; i++) {
        aspx_poll_sampler_before(&sampler);
        now += 3;
        (void) long_wait(&sampler);
    }
    aspx_poll_sampler_blocks(&sampler);
    now += 1000000;
    (void) aspx_poll_sampler_yielded(&sampler);
    assert_in_range(aspx_poll_sampler_idle(&sampler), 1000000, 1001000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_of_one_kind),
        cmocka_unit_test(test_few_readings),
        cmocka_unit_test(test_never_less),
        cmocka_unit_test(test_a_block_after_few_polls),
    };

    return cmocka_run_group_tests(tests, turn_the_clock, NULL);
}
