/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit tests of the decisions of one communicator, on one rank: where a
 * configuration comes from, when there is a search, what it says of itself. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/tune/decide.h"

enum { FAST = 5, SLOW = 6 };

static const char text[] =
    "aspen-coll-table 1\nmpi 4\nbuild b\nucx 1\nfabric tcp\ncpus 2\njobs 1x4\n"
    "rows 2\n"
    "bcast:bytes=8,root=0,pattern=strict,ranks=4,nodes=1,ppn=4,map=block "
    "strict 1.000 2.000 3 sweep 2026-11-27\n"
    "bcast:bytes=8,root=0,pattern=loose,ranks=4,nodes=1,ppn=4,map=block "
    "loose 1.000 2.000 3 sweep 2026-11-27\n"
    "end\n";

static struct asp_tune_table table;

static uint32_t ordered; /* calls of order() */

static uint32_t order(void *data, const struct asp_tune_shape *shape,
                      const struct asp_tune_args *args,
                      struct asp_search_candidate *out)
{
    (void) data;
    (void) shape;
    ordered++;
    out[0] = (struct asp_search_candidate){FAST, 10};
    out[1] = (struct asp_search_candidate){ASP_DECIDE_DEFAULT, 11};
    out[2] = (struct asp_search_candidate){SLOW, 12};
    return args->op == ASP_COLL_SCAN ? 0 : 3;
}

static struct asp_decide_config config(bool with_table, bool with_search)
{
    return (struct asp_decide_config){
        .shape = {.ranks = 4, .nodes = 1, .ppn = 4},
        .table = with_table ? &table : NULL,
        .effort = asp_search_online,
        .order = with_search ? order : NULL,
    };
}

static struct asp_decide *start(const struct asp_decide_config *config)
{
    void *memory = malloc(asp_decide_bytes());

    assert_non_null(memory);
    return asp_decide_start(memory, config);
}

static struct asp_decision call(struct asp_decide *d,
                                const struct asp_tune_args *args, double gap_us)
{
    struct asp_decision decision = asp_decide_enter(d, args);
    struct asp_decide_seen seen = {
        .took_us = decision.config == FAST   ? 50
                   : decision.config == SLOW ? 200
                                             : 100,
        .gap_us = gap_us,
        .last_us = 100,
    };
    double values[ASP_DECIDE_VALUES];

    asp_decide_leave(d, &seen);
    if (decision.agree) {
        asp_decide_values(d, values);
        asp_decide_agreed(d, values);
    }
    return decision;
}

static struct asp_tune_args bcast(uint64_t bytes)
{
    return (struct asp_tune_args){.op = ASP_COLL_BCAST, .bytes = bytes};
}

static void from_table(void **state)
{
    struct asp_decide_config c = config(true, true);
    struct asp_decide *d = start(&c);
    struct asp_tune_args args = bcast(8);
    struct asp_decision decision = call(d, &args, 1e6);
    struct asp_tune_key key;
    struct asp_search_sum sum;

    (void) state;
    assert_int_equal(decision.from, ASP_DECIDE_FROM_TABLE);
    assert_string_equal(table.configs[decision.config], "strict");
    args.bytes = 24;
    assert_int_equal(call(d, &args, 1e6).from, ASP_DECIDE_FROM_NEAR);
    for (int i = 0; i < 1000; i++)
        call(d, &args, 1e6);
    assert_false(asp_decide_account(d, 0, &key, &sum)); /* no search */
    free(d);
}

/* Begun with what another has found out: the same configuration from the first
 * call, and nothing is tried; another kind of call is searched. */
static void resumes(void **state)
{
    struct asp_decide_config c = config(false, true);
    struct asp_decide *first = start(&c), *next = start(&c);
    struct asp_tune_args args = bcast(8), other = bcast(4096);
    struct asp_decide_known known = {0};
    struct asp_search_sum sum;
    struct asp_tune_key key;

    (void) state;
    call(first, &args, 1e6);
    assert_true(asp_decide_known(first, 0, &known));
    assert_int_equal(known.word, 0); /* it goes on */
    for (int i = 0; i < 200; i++)
        call(first, &args, 1e6);
    assert_true(asp_decide_known(first, 0, &known));
    assert_int_equal(known.word, asp_tune_call(&args));
    assert_false(asp_decide_known(first, 1, &known));
    asp_decide_resume(next, &known);
    asp_decide_resume(next, &known); /* once is enough */
    ordered = 0;
    for (int i = 0; i < 1000; i++)
        assert_int_equal(call(next, &args, 1e6).config, FAST);
    assert_int_equal(ordered, 0);
    assert_true(asp_decide_account(next, 0, &key, &sum));
    assert_true(sum.resumed);
    assert_int_equal(sum.trials, 0);
    assert_int_equal(sum.end, ASP_SEARCH_CHOSEN);
    for (int i = 0; i < 200; i++)
        call(next, &other, 1e6);
    assert_int_equal(ordered, 1);
    assert_true(asp_decide_account(next, 1, &key, &sum));
    assert_false(sum.resumed);
    assert_false(asp_decide_account(next, 2, &key, &sum));
    free(first);
    free(next);
}

/* Another shape than any of the table, and no model. */
static void nothing_known(void **state)
{
    struct asp_decide_config c = config(true, false);
    struct asp_tune_args args = bcast(8);
    struct asp_decide *d;

    (void) state;
    c.shape.ranks = 5;
    d = start(&c);
    for (int i = 0; i < 100; i++) {
        struct asp_decision decision = call(d, &args, 1e6);

        assert_int_equal(decision.config, ASP_DECIDE_DEFAULT);
        assert_int_equal(decision.from, ASP_DECIDE_FROM_DEFAULT);
    }
    free(d);
}

static void searches(void **state)
{
    struct asp_decide_config c = config(false, true);
    struct asp_decide *d = start(&c);
    struct asp_tune_args args = bcast(8), scan = {.op = ASP_COLL_SCAN};
    struct asp_tune_key key;
    struct asp_search_sum sum;
    char buf[ASP_TUNE_KEY_MAX];

    (void) state;
    ordered = 0;
    for (int i = 0; i < 14 + 32; i++)
        call(d, &args, 1e6);
    for (int i = 0; i < 14; i++) {
        struct asp_decision decision = call(d, &scan, 1e6);

        assert_int_equal(decision.config, ASP_DECIDE_DEFAULT);
    }
    assert_int_equal(ordered, 2); /* once for each key */
    assert_true(asp_decide_account(d, 0, &key, &sum));
    assert_string_equal(asp_tune_key_print(&key, buf),
                        "bcast:bytes=8,root=0,pattern=strict,ranks=4,nodes=1,"
                        "ppn=4,map=block");
    assert_int_equal(sum.config, FAST);
    assert_true(sum.ratio == 2);
    assert_true(asp_decide_account(d, 1, &key, &sum));
    assert_int_equal(sum.end, ASP_SEARCH_ALONE);
    assert_false(asp_decide_account(d, 2, &key, &sum));
    free(d);
}

static void never_searches(void **state)
{
    struct asp_tune_args args = bcast(8);

    (void) state;
    for (int i = 0; i < 2; i++) {
        struct asp_decide_config c = config(false, true);
        struct asp_decide *d;

        if (i == 0)
            c.effort.budget_us = 0;
        else
            args.pattern = ASP_TUNE_NONBLOCKING;
        d = start(&c);
        for (int n = 0; n < 200; n++) {
            struct asp_decision decision = call(d, &args, 1);

            assert_int_equal(decision.config, ASP_DECIDE_DEFAULT);
            assert_false(decision.agree);
            assert_false(decision.timed);
        }
        free(d);
    }
}

/* Back to back: another row of the table, within 32 calls. */
static void pattern(void **state)
{
    struct asp_decide_config c = config(true, false);
    struct asp_decide *d = start(&c);
    struct asp_tune_args args = bcast(8), barrier = {.op = ASP_COLL_BARRIER};

    (void) state;
    for (int i = 0; i < 32; i++)
        call(d, &args, 1);
    assert_string_equal(table.configs[call(d, &args, 1).config], "loose");
    /* A barrier between them, close as they are. */
    for (int i = 0; i < 32; i++) {
        call(d, &barrier, 1);
        call(d, &args, 1);
    }
    assert_string_equal(table.configs[call(d, &args, 1).config], "strict");
    free(d);
}

/* A program with more keys than there is room for. */
static void many_keys(void **state)
{
    struct asp_decide_config c = config(false, true);
    struct asp_decide *d = start(&c);
    struct asp_tune_key key;
    struct asp_search_sum sum;
    uint32_t n = 0;

    (void) state;
    for (int turn = 0; turn < 100; turn++)
        for (int i = 0; i < 60; i++) {
            struct asp_tune_args args = bcast(UINT64_C(1) << i);
            struct asp_decision decision = call(d, &args, 1e6);

            if (i >= ASP_DECIDE_KEYS)
                assert_int_equal(decision.config, ASP_DECIDE_DEFAULT);
            else if (turn > 55)
                assert_int_equal(decision.config, FAST);
        }
    while (asp_decide_account(d, n, &key, &sum))
        n++;
    assert_int_equal(n, ASP_DECIDE_KEYS);
    free(d);
}

/* Ranks that differ once are never trusted again, in any key. */
static void broken(void **state)
{
    (void) state;
    for (int searching = 0; searching < 2; searching++) {
        struct asp_decide_config c = config(!searching, searching);
        struct asp_decide *d = start(&c);
        struct asp_tune_args args = bcast(8), other = bcast(16);
        struct asp_decide_seen seen = {.took_us = 1, .gap_us = 1e6};
        double values[ASP_DECIDE_VALUES];
        uint32_t calls = 0;

        while (!asp_decide_enter(d, &args).agree && calls++ < 100)
            asp_decide_leave(d, &seen);
        assert_true(calls < 100);
        asp_decide_leave(d, &seen);
        asp_decide_values(d, values);
        values[ASP_SEARCH_TIMES]++;
        asp_decide_agreed(d, values);
        assert_true(asp_decide_broken(d));
        for (int i = 0; i < 100; i++) {
            struct asp_decision decision = call(d, i % 2 ? &args : &other, 1);

            assert_int_equal(decision.config, ASP_DECIDE_DEFAULT);
            assert_false(decision.agree);
        }
        free(d);
    }
}

static int set_up(void **state)
{
    (void) state;
    return asp_tune_table_parse("t", text, sizeof(text) - 1, NULL, &table,
                                NULL);
}

static int tear_down(void **state)
{
    (void) state;
    asp_tune_table_clear(&table);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(from_table), cmocka_unit_test(nothing_known),
        cmocka_unit_test(searches),   cmocka_unit_test(never_searches),
        cmocka_unit_test(pattern),    cmocka_unit_test(many_keys),
        cmocka_unit_test(broken),     cmocka_unit_test(resumes),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
