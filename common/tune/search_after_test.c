/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit tests of the search from its proof on, with times that are exact. Noise
 * is in noise_test.c. */
#include "search_world.h"

/* ---- the proof ---- */

/* Times of both that differ by a part, and by so many us. */
static void proof(void **state)
{
    static const struct {
        double standard, own;
        bool taken;
    } rows[] = {
        {100, 90, true},    {100, 97.5, true},
        {100, 98.5, false}, /* by less than 2 % */
        {1, 0.94, false},   /* by less than two readings of a clock */
        {1, 0.8, true},     {100, 100, false},
    };

    (void) state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct asp_search_effort effort = asp_search_online;
        struct world w = {.us = {[DEFAULT] = rows[i].standard}};

        for (uint32_t config = 0; config < 12; config++)
            if (config != DEFAULT)
                w.us[config] = config == 1 ? rows[i].own : 2 * rows[i].standard;
        effort.confirm = 1;
        begin(&w, &effort, 12, DEFAULT);
        assert_int_equal(choose(&w), rows[i].taken ? 1 : DEFAULT);
        assert_int_equal(sum(&w).end, ASP_SEARCH_CHOSEN);
    }
}

/* It only looked faster in its trials. */
static void luck(void **state)
{
    struct world w = {.us = {[1] = 50}};

    (void) state;
    begin(&w, &asp_search_online, 12, DEFAULT);
    while (w.search.phase < ASP_SEARCH_PROOF)
        call(&w, 8);
    assert_int_equal(w.search.tries[w.search.chosen].config, 1);
    assert_int_equal(sum(&w).config, DEFAULT); /* calls of other sizes */
    assert_int_equal(call(&w, 9).config, DEFAULT);
    w.us[1] = 110;
    assert_int_equal(choose(&w), DEFAULT);
    assert_true(w.used[1] <= 2 + 1 + 16);
}

/* No times in the proof on some rank: the default. */
static void blind_proof(void **state)
{
    struct world w = {.us = {[1] = 50}};
    double values[ASP_SEARCH_VALUES];

    (void) state;
    begin(&w, &asp_search_online, 12, DEFAULT);
    while (w.search.phase < ASP_SEARCH_PROOF)
        call(&w, 8);
    for (int i = 0; i < 8 * 32 * 4; i++)
        if (asp_search_next(&w.search, 8).agree) {
            asp_search_values(&w.search, values);
            asp_search_agreed(&w.search, values);
        }
    assert_int_equal(w.search.phase, ASP_SEARCH_WATCH);
    assert_int_equal(sum(&w).config, DEFAULT);
}

/* A search that ends in its proof is known, and the next goes on with it. */
static void proof_goes_on(void **state)
{
    struct world w = {.us = {[1] = 50}}, next = w;
    struct asp_search_known known;

    (void) state;
    begin(&w, &asp_search_online, 12, DEFAULT);
    while (w.search.phase < ASP_SEARCH_PROOF) {
        assert_false(asp_search_known(&w.search, &known));
        call(&w, 8);
    }
    w.search.proof = (struct asp_proof){.windows = 7, .spread = 1};
    assert_true(asp_search_known(&w.search, &known));
    assert_true(known.proving);
    assert_int_equal(known.config, 1);
    for (uint32_t config = 0; config < 12; config++)
        next.us[config] = 100;
    next.us[1] = 150;
    asp_search_resume(&next.search, next.tries, &asp_search_online, &known,
                      DEFAULT, 1);
    assert_int_equal(next.search.phase, ASP_SEARCH_PROOF);
    for (int i = 0; i < 32; i++)
        assert_false(call(&next, 8).trial);
    assert_int_equal(next.used[1], 16);
    assert_int_equal(next.search.phase, ASP_SEARCH_WATCH);
    assert_int_equal(sum(&next).config, DEFAULT);
}

/* The budget is spent, and what was best so far is proved. */
static void budget_proof(void **state)
{
    struct asp_search_effort effort = asp_search_online;
    struct world w = {.us = {[0] = 60, [1] = 90, [2] = 90, [3] = 90}};

    (void) state;
    effort.budget_us = 650;
    begin(&w, &effort, 12, DEFAULT);
    assert_int_equal(choose(&w), 0);
    assert_int_equal(sum(&w).end, ASP_SEARCH_BUDGET);
    assert_int_equal(w.search.phase, ASP_SEARCH_FIXED);
    assert_true(w.used[0] >= 16);
}

/* ---- after the choice ---- */

/* Calls in which nothing is done. */
static void rest(struct world *w)
{
    while (w->search.phase == ASP_SEARCH_WATCH && asp_search_rest(&w->search)) {
        struct asp_search_step step = call(w, 8);

        assert_false(step.timed);
        assert_false(step.agree);
    }
}

/* A sample, and what it leads to: up to the next rest. */
static void wake(struct world *w)
{
    int calls = 0;

    while (!asp_search_rest(&w->search) && calls++ < 1000)
        call(w, 8);
    assert_true(calls < 1000);
}

static void rests_double(void **state)
{
    struct world w = {.us = {[1] = 50}};

    (void) state;
    begin(&w, &asp_search_online, 12, DEFAULT);
    choose(&w);
    for (uint32_t calls = 32; calls <= 65536; calls *= 2) {
        uint32_t before = w.agreements, begun = w.calls;

        assert_int_equal(asp_search_rest(&w.search), calls);
        rest(&w);
        assert_int_equal(w.calls - begun, calls);
        wake(&w);
        assert_int_equal(w.calls - begun, calls + 12);
        assert_int_equal(w.agreements - before, 1);
    }
    assert_int_equal(asp_search_rest(&w.search), 65536);
    assert_int_equal(sum(&w).switches, 0);
    assert_int_equal(w.used[1] + 16 + 9, w.calls);
}

/* Calls that were passed are as good as calls. */
static void passes(void **state)
{
    struct world w = {.us = {[1] = 50}}, other = {.us = {[1] = 50}};
    double values[ASP_SEARCH_VALUES], others[ASP_SEARCH_VALUES];

    (void) state;
    begin(&w, &asp_search_online, 12, DEFAULT);
    begin(&other, &asp_search_online, 12, DEFAULT);
    choose(&w);
    choose(&other);
    rest(&w);
    asp_search_pass(&other.search, 20);
    assert_int_equal(asp_search_rest(&other.search), 12);
    asp_search_pass(&other.search, 12);
    asp_search_values(&w.search, values);
    asp_search_values(&other.search, others);
    assert_true(values[ASP_SEARCH_TIMES] == others[ASP_SEARCH_TIMES]);
    assert_true(call(&other, 8).timed);
}

static void machine_changes(void **state)
{
    struct world w = {.us = {[1] = 50, [2] = 60}};

    (void) state;
    begin(&w, &asp_search_online, 12, DEFAULT);
    assert_int_equal(choose(&w), 1);
    w.us[1] = 54; /* within the margin */
    rest(&w);
    wake(&w);
    assert_int_equal(sum(&w).config, 1);
    assert_int_equal(w.search.repeated, 0);
    w.us[1] = 90;
    rest(&w);
    wake(&w);
    assert_int_equal(sum(&w).config, 2);
    assert_int_equal(sum(&w).switches, 1);
    assert_int_equal(sum(&w).end, ASP_SEARCH_CHOSEN);
    w.us[2] = 120; /* the first is better again, and both than the default */
    rest(&w);
    wake(&w);
    assert_int_equal(sum(&w).config, 1);
    for (uint32_t i = 0; i < 3; i++)
        w.us[i] = 150;
    w.us[3] = 150;
    rest(&w);
    wake(&w);
    assert_int_equal(sum(&w).config, DEFAULT);
    w.us[DEFAULT] = 300; /* of the default, too, a promise is kept */
    rest(&w);
    wake(&w);
    assert_true(sum(&w).config != DEFAULT);
}

/* The default was chosen: the first sample says what it takes. */
static void default_promises(void **state)
{
    struct world w = {.us = {[1] = 100}};

    (void) state;
    begin(&w, &asp_search_online, 12, DEFAULT);
    assert_int_equal(choose(&w), DEFAULT);
    w.us[DEFAULT] = 130;
    wake(&w);
    assert_int_equal(w.search.repeated, 0);
    assert_true(w.search.promised_us == 130);
}

/* Less than three quarters of a sample. */
static void disturbance(void **state)
{
    struct world w = {.us = {[1] = 50, [2] = 52}};

    (void) state;
    begin(&w, &asp_search_online, 12, DEFAULT);
    choose(&w);
    rest(&w);
    w.us[1] = 500;
    for (int i = 0; i < 8; i++)
        call(&w, 8);
    w.us[1] = 50;
    for (int i = 0; i < 2000; i++)
        call(&w, 8);
    assert_int_equal(w.search.repeated, 0);
    assert_int_equal(sum(&w).config, 1);
}

/* A size that does not come back holds no sample up. */
static void sample_of_other_sizes(void **state)
{
    struct world w = {.us = {[1] = 50}};

    (void) state;
    begin(&w, &asp_search_online, 12, DEFAULT);
    choose(&w);
    rest(&w);
    for (int i = 0; i < 12; i++)
        assert_false(call(&w, 9).timed);
    assert_int_equal(asp_search_rest(&w.search), 64);
    assert_int_equal(sum(&w).config, 1);
}

/* Configurations that get worse and worse: it does not go on for ever. */
static void restless(void **state)
{
    struct world w = {.us = {[1] = 50, [2] = 52}};

    (void) state;
    begin(&w, &asp_search_online, 12, DEFAULT);
    choose(&w);
    for (int i = 0; i < 100000 && w.search.phase != ASP_SEARCH_FIXED; i++) {
        w.us[sum(&w).config] *= 1.005;
        call(&w, 8);
    }
    assert_int_equal(sum(&w).end, ASP_SEARCH_RESTLESS);
    assert_int_equal(asp_search_rest(&w.search), UINT32_MAX);
    assert_int_equal(w.search.repeated, 8);
    assert_true(sum(&w).switches <= 8);
}

static void not_watched(void **state)
{
    struct asp_search_effort effort = asp_search_online;
    struct world w = {.us = {[1] = 50}};
    uint32_t before;

    (void) state;
    effort.window = 0;
    begin(&w, &effort, 12, DEFAULT);
    choose(&w);
    before = w.agreements;
    for (int i = 0; i < 1000; i++)
        call(&w, 8);
    assert_int_equal(w.agreements, before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(proof),
        cmocka_unit_test(luck),
        cmocka_unit_test(blind_proof),
        cmocka_unit_test(proof_goes_on),
        cmocka_unit_test(budget_proof),
        cmocka_unit_test(rests_double),
        cmocka_unit_test(passes),
        cmocka_unit_test(machine_changes),
        cmocka_unit_test(default_promises),
        cmocka_unit_test(disturbance),
        cmocka_unit_test(sample_of_other_sizes),
        cmocka_unit_test(restless),
        cmocka_unit_test(not_watched),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
