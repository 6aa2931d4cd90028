/* SPDX-License-Identifier: BSD-3-Clause */
/* What a process reads from the arena at the end may be anything: traces and
 * decisions. */
#include "config.h"

#include "decision.h"
#include "trace.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* Seconds after which what should end at once is taken for endless. */
enum { LIMIT_S = 10 };

static const double now = 1000;

static struct aspx_trace good_trace(void)
{
    struct aspx_trace trace = {0};

    aspx_trace_begin(&trace, now);
    aspx_trace_thing(&trace, now, 1, true);
    aspx_trace_switched(&trace, now + 3, 1, false, 50);
    aspx_trace_switched(&trace, now + 5, 1, true, 20);
    return trace;
}

static double sum_on(const struct aspx_trace *trace)
{
    double sum = 0;

    for (int b = 0; b < ASPX_TRACE_BUCKETS; b++)
        sum += trace->on_s[b];
    return sum;
}

static void test_a_good_one_is_sane(void **state)
{
    struct aspx_trace trace = good_trace();

    (void) state;
    assert_true(aspx_trace_sane(&trace));
    aspx_trace_close(&trace, now + 1e6);
    assert_true(aspx_trace_sane(&trace));
    assert_true(fabs(sum_on(&trace) - (1e6 - 2)) < 1e-3);
    assert_int_equal(trace.n, 2);
}

/* One number of it overwritten. The copy lies between canaries. */
static void spoil(size_t offset, const void *bytes, size_t length)
{
    struct {
        char before[256];
        struct aspx_trace trace;
        char after[256];
    } all;
    static const char canary[256];

    memset(&all, 0, sizeof(all));
    all.trace = good_trace();
    memcpy((char *) &all.trace + offset, bytes, length);
    assert_false(aspx_trace_sane(&all.trace));
    alarm(LIMIT_S);
    aspx_trace_thing(&all.trace, now + 6, 1, true);
    aspx_trace_switched(&all.trace, now + 7, 1, false, 50);
    aspx_trace_close(&all.trace, now + 8);
    alarm(0);
    assert_memory_equal(all.before, canary, sizeof(canary));
    assert_memory_equal(all.after, canary, sizeof(canary));
}

#define SPOIL(FIELD, TYPE, ...)                                                \
    do {                                                                       \
        const TYPE values[] = {__VA_ARGS__};                                   \
                                                                               \
        for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)        \
            spoil(offsetof(struct aspx_trace, FIELD), &values[i],              \
                  sizeof(values[i]));                                          \
    } while (0)

static void test_a_spoilt_one_leads_nowhere(void **state)
{
    (void) state;
    SPOIL(n, uint32_t, ASPX_TRACE_SWITCHES + 1, UINT32_MAX);
    SPOIL(begin_s, double, NAN, INFINITY, -INFINITY, -1e300, 1e300, now + 6);
    SPOIL(last_s, double, NAN, INFINITY, -INFINITY, -1e300, 1e300, now - 1);
    SPOIL(bucket_s, double, NAN, INFINITY, -1, 1e-300, 1e300);
    SPOIL(share, double, NAN, -1, 2);
    SPOIL(on_s[3], double, NAN, -1, 1e300);
    SPOIL(change[1].t_s, double, NAN, INFINITY, -1, 6);
}

static void test_decisions_are_taken_over(void **state)
{
    struct aspx_decision list[ASPX_DECISIONS] = {
        {1, ASPX_DECISION_ON, "faster with ghosts; on over predictor"},
        {NAN, ASPX_DECISION_ON, "when?"},
        {1, 1000, "what?"},
        {1, -1, "what?"},
        {1, ASPX_DECISION_ON, "\", \"ended\": true"},
        {1, ASPX_DECISION_ON, "\033[2J"},
        {.t_s = 1, .to = ASPX_DECISION_ON},
        {2, ASPX_DECISION_PLAIN, ""},
    };
    struct aspx_decisions all;

    (void) state;
    memset(list[6].why, 'x', sizeof(list[6].why)); /* has no end */
    aspx_decisions_take(&all, list, 8, 3);
    assert_int_equal(all.n, 2);
    assert_int_equal(all.more, 3);
    assert_string_equal(all.list[0].why, list[0].why);
    assert_int_equal(all.list[1].to, ASPX_DECISION_PLAIN);
    aspx_decisions_take(&all, list, UINT32_MAX, 0);
    assert_true(all.n <= ASPX_DECISIONS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_good_one_is_sane),
        cmocka_unit_test(test_a_spoilt_one_leads_nowhere),
        cmocka_unit_test(test_decisions_are_taken_over),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
