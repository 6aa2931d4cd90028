/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of knobs, and the fields that it becomes. */
#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "knobs.h"

static bool travels(enum asp_knob_id id)
{
    return asp_knobs[id].flags & ASP_KNOB_TO_RUNTIME;
}

static size_t size_of(enum asp_knob_type type)
{
    return type == ASP_TYPE_BOOL                              ? sizeof(bool)
           : type == ASP_TYPE_WORD || type == ASP_TYPE_NUMBER ? sizeof(int)
                                                              : ASP_VALUE_MAX;
}

/* Each default is in the field of its row, and fields do not overlap: setting
 * one leaves all other bytes alone. */
static void defaults_land(void **state)
{
    unsigned char taken[sizeof(struct asp_knobs)] = {0};
    struct asp_knobs knobs;

    (void) state;
    asp_knobs_init(&knobs, false);
    for (enum asp_knob_id id = 0; id < ASP_KNOB_COUNT; id++) {
        const struct asp_knob *row = &asp_knobs[id];
        char text[ASP_VALUE_MAX];

        assert_int_equal(asp_knob_find(row->name), id);
        assert_true(row->max < INT_MAX && row->min <= row->max);
        if (!travels(id))
            continue;
        assert_string_equal(asp_knobs_text(&knobs, id, text), row->builtin);
        for (size_t b = 0; b < size_of(row->type); b++)
            assert_int_equal(taken[row->offset + b]++, 0);
    }
    assert_int_equal(asp_knob_find("nothing"), ASP_KNOB_COUNT);
    /* By name: the row, the field and its type belong together. */
    assert_false(knobs.offload);
    assert_int_equal(knobs.idle_spin_us, ASP_NUMBER_AUTO);
    assert_int_equal(knobs.idle_yield_us, ASP_NUMBER_AUTO);
    assert_int_equal(knobs.ghost_active, ASP_ACTIVE_ALL);
    assert_int_equal(knobs.ghost_high, 70);
    assert_int_equal(knobs.ghost_low, 40);
    assert_int_equal(knobs.rma_binding, ASP_BINDING_RANK);
    assert_int_equal(knobs.rma_balance, ASP_BALANCE_NONE);
    assert_int_equal(knobs.rma_direct, ASP_DIRECT_AUTO);
    assert_int_equal(knobs.p2p, ASP_P2P_OFF);
    assert_int_equal(knobs.p2p_large_kb, 8);
    assert_int_equal(knobs.match, ASP_SWITCH_AUTO);
    assert_int_equal(knobs.pack, ASP_SWITCH_AUTO);
    assert_int_equal(knobs.coll, ASP_COLL_MODE_OFF);
    assert_string_equal(knobs.coll_table, "");
    assert_string_equal(knobs.coll_save, "");
    assert_int_equal(knobs.coll_budget_ms, 1000);
    assert_int_equal(knobs.coll_effort, ASP_EFFORT_FEW);
    assert_int_equal(knobs.coll_probe_ms, 20);
    assert_false(knobs.coll_reproducible);
    assert_string_equal(knobs.coll_force, "");
    assert_int_equal(knobs.pack_threads, ASP_SWITCH_AUTO);
    assert_int_equal(knobs.init_timeout_s, 60);
    assert_int_equal(knobs.ghost_timeout_s, 60);
    assert_int_equal(knobs.heap, ASP_HEAP_PRIVATE);
    assert_int_equal(knobs.heap_threshold_kb, 128);
    assert_int_equal(knobs.thread_min_kb, 8);
    assert_int_equal(knobs.adapt, ASP_ADAPT_OFF);
    assert_int_equal(knobs.adapt_high, 90);
    assert_int_equal(knobs.adapt_low, 85);
    assert_int_equal(knobs.adapt_interval_ms, 1000);
    assert_int_equal(knobs.adapt_interval_min_ms, 20);
    assert_int_equal(knobs.adapt_threads, ASP_THREADS_AUTO);
    assert_string_equal(knobs.report, "");
    assert_string_equal(knobs.profile_build, "");
}

/* The words of a row go into its field and come back. */
static void words_go_round(void **state)
{
    (void) state;
    for (enum asp_knob_id id = 0; id < ASP_KNOB_COUNT; id++) {
        char words[ASP_VALUE_MAX], text[ASP_VALUE_MAX], *save = NULL;
        int n = 0;

        snprintf(words, sizeof(words), "%s", asp_knobs[id].values);
        for (char *w = strtok_r(words, "|", &save); w;
             w = strtok_r(NULL, "|", &save)) {
            struct asp_knobs knobs;

            asp_knobs_init(&knobs, false);
            assert_int_equal(asp_knob_word(id, w), n++);
            if (!travels(id))
                continue;
            assert_int_equal(asp_knobs_set(&knobs, id, w), 0);
            assert_string_equal(asp_knobs_text(&knobs, id, text), w);
        }
        assert_int_equal(asp_knob_word(id, "nothing"), -1);
        assert_int_equal(asp_knob_word(id, ""), -1);
    }
    assert_int_equal(asp_knob_word(ASP_KNOB_RMA_BALANCE, "queue"),
                     ASP_BALANCE_QUEUE);
    assert_int_equal(asp_knob_word(ASP_KNOB_P2P, "large"), ASP_P2P_LARGE);
    assert_int_equal(asp_knob_word(ASP_KNOB_COLL, "tune"), ASP_COLL_MODE_TUNE);
    assert_int_equal(asp_knob_word(ASP_KNOB_MODE, "thread"), ASP_MODE_THREAD);
}

/* The limits of a number belong to it, what is beyond them does not. */
static void numbers_have_limits(void **state)
{
    (void) state;
    for (enum asp_knob_id id = 0; id < ASP_KNOB_COUNT; id++) {
        const struct asp_knob *row = &asp_knobs[id];
        const long long beyond[] = {row->min - 1, row->max + 1,
                                    row->max * 10 + 1, INT64_MAX};
        struct asp_knobs knobs;
        char text[ASP_VALUE_MAX];
        int n = -2;

        if (row->type != ASP_TYPE_NUMBER)
            continue;
        snprintf(text, sizeof(text), "%lld", (long long) row->min);
        assert_int_equal(asp_knob_number(id, text, &n), 0);
        assert_int_equal(n, row->min);
        snprintf(text, sizeof(text), "%lld", (long long) row->max);
        assert_int_equal(asp_knob_number(id, text, &n), 0);
        assert_int_equal(n, row->max);
        for (size_t b = 0; b < sizeof(beyond) / sizeof(beyond[0]); b++) {
            snprintf(text, sizeof(text), "%lld", beyond[b]);
            assert_int_equal(asp_knob_number(id, text, &n), -1);
            assert_int_equal(errno, beyond[b] < 0 ? EINVAL : ERANGE);
            asp_knobs_init(&knobs, false);
            if (travels(id)) {
                assert_int_equal(asp_knobs_set(&knobs, id, text), -1);
                assert_string_equal(asp_knobs_text(&knobs, id, text),
                                    row->builtin);
            }
        }
        assert_int_equal(n, row->max);
    }
}

static void texts_are_bounded(void **state)
{
    char longest[ASP_VALUE_MAX], longer[ASP_VALUE_MAX + 1];
    struct asp_knobs knobs;

    (void) state;
    memset(longest, 'x', sizeof(longest));
    longest[ASP_VALUE_MAX - 1] = '\0';
    memset(longer, 'x', sizeof(longer));
    longer[ASP_VALUE_MAX] = '\0';
    asp_knobs_init(&knobs, false);
    assert_int_equal(asp_knobs_set(&knobs, ASP_KNOB_REPORT, longest), 0);
    assert_string_equal(knobs.report, longest);
    assert_int_equal(asp_knobs_set(&knobs, ASP_KNOB_REPORT, longer), -1);
    assert_int_equal(asp_knobs_set(&knobs, ASP_KNOB_REPORT, ""), -1);
    assert_string_equal(knobs.report, longest);
    assert_int_equal(asp_knobs_set(&knobs, ASP_KNOB_REPORT, "no"), 0);
    assert_string_equal(knobs.report, "");
    assert_int_equal(asp_knobs_set(&knobs, ASP_KNOB_REPORT, "yes"), 0);
    assert_string_equal(knobs.report, "yes");
    assert_int_equal(asp_knobs_set(&knobs, ASP_KNOB_COLL_FORCE, "flat"), 0);
    assert_string_equal(knobs.coll_force, "flat");
}

static void only_what_is_said_in_off(void **state)
{
    struct asp_knobs knobs, off;

    (void) state;
    asp_knobs_init(&knobs, false);
    asp_knobs_init(&off, true);
    for (enum asp_knob_id id = 0; id < ASP_KNOB_COUNT; id++) {
        char one[ASP_VALUE_MAX], other[ASP_VALUE_MAX];

        if (!travels(id))
            continue;
        asp_knobs_text(&knobs, id, one);
        asp_knobs_text(&off, id, other);
        if (asp_knobs[id].flags & ASP_KNOB_SAID_IN_OFF)
            assert_string_equal(other, "off");
        else
            assert_string_equal(other, one);
    }
    assert_int_equal(off.pack, ASP_SWITCH_OFF);
    assert_int_equal(off.match, ASP_SWITCH_OFF);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_land),
        cmocka_unit_test(words_go_round),
        cmocka_unit_test(numbers_have_limits),
        cmocka_unit_test(texts_are_bounded),
        cmocka_unit_test(only_what_is_said_in_off),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
