/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit tests of the search up to the choice: what it tries, chooses and gives
 * up; with times that are exact. What follows is in search_after_test.c. Noise
 * is in quality_test.c, several ranks in agreement_test.c. */
#include <errno.h>
#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/tune/pattern.h"
#include "common/tune/search.h"
#include "common/tune/search_world.h"

static void chooses(void **state)
{
    struct world w = {.us = {[0] = 90, [1] = 80, [2] = 50, [3] = 70}};

    (void) state;
    begin(&w, &asp_search_online, 12, DEFAULT);
    assert_int_equal(choose(&w), 2);
    assert_true(sum(&w).trials <= 12);
    assert_true(w.calls <= 12 + 32);
    assert_int_equal(w.used[DEFAULT] > 0, 1);
    /* Only the few best of the model's order, and the default. */
    for (uint32_t i = 4; i < 12; i++)
        assert_true(i == DEFAULT || w.used[i] == 0);
    assert_int_equal(sum(&w).candidates, 12);
    assert_int_equal(sum(&w).tried, 5);
    assert_int_equal(sum(&w).trials, w.calls - 32);
    assert_int_equal(sum(&w).agreements, w.agreements);
    assert_int_equal(sum(&w).model_rank, 3);
    assert_true(sum(&w).spent_us == w.trials_us);
    assert_true(sum(&w).best_us == 50);
    assert_true(sum(&w).default_us == 100);
    assert_true(sum(&w).ratio == 2);
    assert_string_equal(asp_search_end_name(sum(&w).end), "chosen");
}

/* The default may be the first of the model's, or be far behind in it. */
static void default_is_tried(void **state)
{
    (void) state;
    for (uint32_t standard = 0; standard < 20; standard++) {
        struct world w = {.us = {[0] = 0}};

        for (uint32_t i = 0; i < 20; i++)
            w.us[i] = i == standard ? 100 : 200;
        begin(&w, &asp_search_online, 20, standard);
        assert_int_equal(choose(&w), standard);
    }
}

/* The default is given up for more than `confirm`, and not for less. */
static void hysteresis(void **state)
{
    static const struct {
        double us;
        bool taken;
    } rows[] = {{99, false}, {98, false}, {96, true}, {92, true}, {80, true}};

    (void) state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct world w = {.us = {[1] = rows[i].us}};

        begin(&w, &asp_search_online, 12, DEFAULT);
        assert_int_equal(choose(&w), rows[i].taken ? 1 : DEFAULT);
        assert_true(sum(&w).trials <= 12);
    }
}

static void veto(void **state)
{
    struct asp_search_effort effort = asp_search_online;
    struct world w = {.us = {[0] = 10}};

    (void) state;
    effort.budget_us = 0;
    begin(&w, &effort, 12, DEFAULT);
    for (int i = 0; i < 1000; i++)
        assert_false(call(&w, 8).trial);
    assert_int_equal(w.used[DEFAULT], 1000);
    assert_int_equal(w.agreements, 0);
    assert_int_equal(sum(&w).end, ASP_SEARCH_VETO);
    assert_int_equal(sum(&w).trials, 0);
}

static void alone(void **state)
{
    struct world w = {.us = {[0] = 10}};

    (void) state;
    begin(&w, &asp_search_online, 1, 0);
    for (int i = 0; i < 100; i++)
        call(&w, 8);
    assert_int_equal(w.agreements, 0);
    assert_int_equal(sum(&w).end, ASP_SEARCH_ALONE);
}

/* Trials end before they cost a fifth more than the budget, though the model
 * knows nothing of how slow the machine is. */
static void budget(void **state)
{
    (void) state;
    for (double ms = 1; ms < 2000; ms *= 1.3) {
        struct asp_search_effort effort = asp_search_online;
        struct world w = {.us = {[0] = 0}};

        for (uint32_t i = 0; i < 12; i++)
            w.us[i] = 50e3;
        w.us[2] = 25e3;
        effort.budget_us = ms * 1000;
        begin(&w, &effort, 12, DEFAULT);
        choose(&w);
        assert_true(w.search.charged_us <= 1.2 * effort.budget_us);
        /* 6 calls until the first could be chosen. */
        if (ms < 250)
            assert_int_equal(sum(&w).config, DEFAULT);
        if (ms > 600)
            assert_int_equal(sum(&w).config, 2);
    }
}

/* A call of the default that takes nearly the whole budget, once: what the
 * model says of the others, by that measure, still fits. */
static void hiccup(void **state)
{
    struct world w = {.us = {[2] = 50}};

    (void) state;
    begin(&w, &asp_search_online, 12, DEFAULT);
    w.us[DEFAULT] = 0.9 * asp_search_online.budget_us;
    call(&w, 8);
    w.us[DEFAULT] = 100;
    choose(&w);
    assert_int_equal(sum(&w).end, ASP_SEARCH_CHOSEN);
    assert_int_equal(sum(&w).config, 2);
}

/* Configurations that are far slower than the model thinks are tried once. */
static void bad_candidates(void **state)
{
    struct world w = {.us = {[0] = 5500, [1] = 6000, [2] = 5500, [3] = 50}};

    (void) state;
    begin(&w, &asp_search_online, 12, DEFAULT);
    choose(&w);
    assert_int_equal(w.used[0], 1);
    assert_int_equal(w.used[1], 1);
    assert_int_equal(w.used[2], 1);
}

/* Some are slower, all in the same way: what they cost is bounded. */
static void loss(void **state)
{
    struct asp_search_effort effort = asp_search_explicit;
    struct world w = {.us = {[0] = 0}};

    (void) state;
    for (uint32_t i = 0; i < 20; i++)
        w.us[i] = i == DEFAULT ? 1000 : 3500;
    effort.loss_calls = 10;
    begin(&w, &effort, 20, DEFAULT);
    assert_int_equal(choose(&w), DEFAULT);
    assert_int_equal(sum(&w).end, ASP_SEARCH_LOSS);
    assert_true(w.search.loss_us <= 13 * 1000);
}

/* Ranks that are not in the same state see it, and use the default. */
static void mismatch(void **state)
{
    for (int part = 0; part < 2; part++) {
        struct world w = {.us = {[0] = 10}};
        double values[ASP_SEARCH_VALUES];

        (void) state;
        begin(&w, &asp_search_online, 12, DEFAULT);
        while (!asp_search_next(&w.search, 8).agree)
            ;
        asp_search_values(&w.search, values);
        values[ASP_SEARCH_TIMES + part] += 1;
        asp_search_agreed(&w.search, values);
        assert_int_equal(sum(&w).end, ASP_SEARCH_MISMATCH);
        for (int i = 0; i < 100; i++) {
            struct asp_search_step step = call(&w, 8);

            assert_int_equal(step.config, DEFAULT);
            assert_false(step.agree);
        }
    }
}

/* Nothing but the default is used before ranks have compared what they will
 * do. */
static void checks_first(void **state)
{
    struct world w = {.us = {[0] = 10}}, other = {.us = {[0] = 10}};
    double values[ASP_SEARCH_VALUES], others[ASP_SEARCH_VALUES];
    struct asp_search_step step;

    (void) state;
    begin(&w, &asp_search_online, 12, DEFAULT);
    begin(&other, &asp_search_online, 12, DEFAULT);
    step = asp_search_next(&w.search, 8);
    assert_int_equal(step.config, DEFAULT);
    assert_true(step.agree);
    asp_search_next(&other.search, 8);
    asp_search_values(&w.search, values);
    asp_search_values(&other.search, others);
    assert_true(values[ASP_SEARCH_TIMES] == others[ASP_SEARCH_TIMES]);
    /* A prediction that differs in its last bit. */
    {
        struct asp_search_candidate list[] = {{1, 5}, {2, 6}, {3, 7}};

        asp_search_start(&w.search, w.tries, CONFIGS, &asp_search_online, list,
                         3, 0, 1);
        list[2].predicted_us = 7 * (1 + DBL_EPSILON);
        asp_search_start(&other.search, other.tries, CONFIGS,
                         &asp_search_online, list, 3, 0, 1);
    }
    asp_search_next(&w.search, 8);
    asp_search_next(&other.search, 8);
    asp_search_values(&w.search, values);
    asp_search_values(&other.search, others);
    assert_true(values[ASP_SEARCH_TIMES] != others[ASP_SEARCH_TIMES]);
}

/* Times of other sizes are not mixed in. */
static void sizes(void **state)
{
    struct world w = {.us = {[1] = 50}};
    uint32_t trials = 0;

    (void) state;
    begin(&w, &asp_search_online, 12, DEFAULT);
    for (uint64_t i = 0; w.search.phase < ASP_SEARCH_PROOF; i++) {
        bool ours = i % 3 == 0;
        struct asp_search_step step = call(&w, ours ? 8 : 9 + i % 2);

        assert_true(!step.trial || ours);
        trials += step.trial;
    }
    assert_int_equal(w.search.tries[w.search.chosen].config, 1);
    assert_true(trials <= 12);
}

/* The first size does not come back: the search moves to the next. */
static void moves(void **state)
{
    struct world w = {.us = {[1] = 50}};

    (void) state;
    begin(&w, &asp_search_online, 12, DEFAULT);
    for (int i = 0; i < 4; i++)
        call(&w, 8);
    for (int i = 0; i < 63 + 12 + 32; i++)
        call(&w, 9);
    assert_int_equal(w.search.phase, ASP_SEARCH_WATCH);
    assert_int_equal(w.search.bytes, 9);
    assert_int_equal(w.search.tries[w.search.chosen].config, 1);
}

static void no_size_stays(void **state)
{
    struct world w = {.us = {[1] = 50}};

    (void) state;
    begin(&w, &asp_search_online, 12, DEFAULT);
    for (uint64_t i = 0; i < 1000; i++)
        call(&w, i);
    assert_int_equal(sum(&w).end, ASP_SEARCH_SIZES);
    assert_int_equal(sum(&w).config, DEFAULT);
    assert_true(sum(&w).trials < 12);
}

/* A rank that cannot tell times: all go without. */
static void blind(void **state)
{
    struct world w = {.us = {[1] = 50}};
    double values[ASP_SEARCH_VALUES];

    (void) state;
    begin(&w, &asp_search_online, 12, DEFAULT);
    for (int i = 0; i < 100; i++) {
        struct asp_search_step step = asp_search_next(&w.search, 8);

        asp_search_note(&w.search, -1);
        asp_search_note(&w.search, 0.0 / 0.0);
        if (!step.agree)
            continue;
        asp_search_values(&w.search, values);
        asp_search_agreed(&w.search, values);
    }
    assert_int_equal(sum(&w).end, ASP_SEARCH_BLIND);
    assert_int_equal(sum(&w).config, DEFAULT);
}

/* ---- at once ---- */

static double run(void *data, uint32_t config)
{
    struct world *w = data;

    w->used[config]++;
    w->total_us += w->us[config];
    return w->us[config];
}

static void explicit_search(void **state)
{
    struct world w = {.us = {[0] = 10}};

    (void) state;
    for (uint32_t i = 0; i < 30; i++)
        w.us[i] = 100 + (i * 17 + 3) % 30;
    w.us[27] = 99;
    begin(&w, &asp_search_explicit, 30, 0);
    assert_int_equal(asp_search_drive(&w.search, run, &w), 0);
    assert_int_equal(sum(&w).config, 27);
    assert_int_equal(sum(&w).tried, 30);
    assert_int_equal(w.search.phase, ASP_SEARCH_FIXED);
    for (uint32_t i = 0; i < 30; i++)
        assert_true(w.used[i] >= 1 + 4 * (w.us[i] < 120));
    assert_true(sum(&w).spent_us < w.total_us); /* the proof is no trial */
}

static double fails(void *data, uint32_t config)
{
    (void) data;
    return config > 3 ? -1 : 100;
}

static void given_up(void **state)
{
    struct world w = {.us = {[0] = 10}};

    (void) state;
    begin(&w, &asp_search_explicit, 30, 0);
    assert_int_equal(asp_search_drive(&w.search, fails, NULL), -1);
}

/* ---- patterns ---- */

/* Calls until the pattern is this. */
static uint32_t calls_until(struct asp_pattern *p, enum asp_tune_pattern then,
                            double gap_us, double took_us, bool separated)
{
    uint32_t calls = 0;

    while (p->now != then && calls < 100000) {
        bool due = asp_pattern_call(p);

        asp_pattern_note(p, gap_us, took_us, separated);
        calls++;
        if (due)
            asp_pattern_agreed(p, asp_pattern_value(p));
    }
    return calls;
}

static void patterns(void **state)
{
    struct asp_pattern p;
    uint32_t agreements = 0;

    (void) state;
    asp_pattern_start(&p);
    assert_int_equal(p.now, ASP_TUNE_STRICT);
    assert_true(calls_until(&p, ASP_TUNE_LOOSE, 1, 10, false) <= 32);
    assert_true(calls_until(&p, ASP_TUNE_STRICT, 100, 10, false) <= 32);
    assert_true(calls_until(&p, ASP_TUNE_LOOSE, 1, 10, false) <= 32);
    assert_true(calls_until(&p, ASP_TUNE_STRICT, 1, 10, true) <= 32);
    /* The longer it stays the same, the rarer an agreement. */
    for (int i = 0; i < 10000; i++) {
        bool due = asp_pattern_call(&p);

        asp_pattern_note(&p, 100, 10, false);
        if (due) {
            agreements++;
            asp_pattern_agreed(&p, asp_pattern_value(&p));
        }
    }
    assert_true(agreements <= 10);
    /* A rank for which calls are apart decides for all. */
    asp_pattern_start(&p);
    asp_pattern_agreed(&p, 0.9);
    assert_int_equal(p.now, ASP_TUNE_STRICT);
    /* In doubt as it was. */
    asp_pattern_agreed(&p, 0.1);
    asp_pattern_agreed(&p, 0.4);
    assert_int_equal(p.now, ASP_TUNE_LOOSE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chooses),      cmocka_unit_test(default_is_tried),
        cmocka_unit_test(hysteresis),   cmocka_unit_test(veto),
        cmocka_unit_test(alone),        cmocka_unit_test(budget),
        cmocka_unit_test(hiccup),       cmocka_unit_test(bad_candidates),
        cmocka_unit_test(loss),         cmocka_unit_test(mismatch),
        cmocka_unit_test(checks_first), cmocka_unit_test(sizes),
        cmocka_unit_test(moves),        cmocka_unit_test(no_size_stays),
        cmocka_unit_test(blind),        cmocka_unit_test(explicit_search),
        cmocka_unit_test(given_up),     cmocka_unit_test(patterns),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
