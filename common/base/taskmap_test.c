/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts per node as Slurm writes them, and the dealing of ids. */
#include "taskmap.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_counts(void **state)
{
    static const char *const bad[] = {
        "",   "x",  "3,",     ",3",   "3(x",  "3()",   "3(x0)",      "0",
        "3 ", "-3", "3(x2)4", "3(x)", "3(x2", "3(y2)", "99999999999"};
    uint32_t counts[4];

    (void) state;
    assert_int_equal(asp_counts_parse("3(x2),2", 1, 1024, counts, 4), 3);
    assert_int_equal(counts[0], 3);
    assert_int_equal(counts[1], 3);
    assert_int_equal(counts[2], 2);
    assert_int_equal(asp_counts_parse("7", 1, 1024, counts, 4), 1);
    assert_int_equal(asp_counts_parse("1(x4)", 1, 1024, counts, 4), 4);
    assert_int_equal(asp_counts_parse("1(x5)", 1, 1024, counts, 4), -1);
    assert_int_equal(errno, ENOSPC);
    assert_int_equal(asp_counts_parse("0,7", 0, 7, counts, 4), 2);
    assert_int_equal(asp_counts_parse("8", 0, 7, counts, 4), -1);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        errno = 0;
        if (asp_counts_parse(bad[i], 1, 1024, counts, 4) != -1)
            fail_msg("counts \"%s\"", bad[i]);
        assert_int_equal(errno, EINVAL);
    }
}

static void test_turns(void **state)
{
    static const struct {
        const char *distribution;
        uint32_t plane, turns[ASP_TURNS];
        int errnum;
    } rows[] = {
        {NULL, 0, {ASP_TURN_BLOCK, 0, 1, 0}, 0},
        {"*:cyclic", 0, {ASP_TURN_BLOCK, 0, 1, 0}, 0},
        {"cyclic:block", 3, {1, ASP_TURN_BLOCK, 0, 3}, 0},
        {"plane", 3, {3, ASP_TURN_BLOCK, 1, 0}, 0},
        {"plane=4", 0, {4, ASP_TURN_BLOCK, 1, 0}, 0},
        {"plane", 0, {0, ASP_TURN_BLOCK, 1, 0}, EINVAL},
        {"sideways", 0, {0, ASP_TURN_BLOCK, 1, 0}, EINVAL},
        {"arbitrary", 3, {0, 0, 0, 0}, ENOTSUP},
    };

    (void) state;
    for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
        uint32_t turns[ASP_TURNS];

        errno = 0;
        asp_taskmap_turns(rows[r].distribution, rows[r].plane, turns, NULL);
        assert_int_equal(errno, rows[r].errnum);
        assert_memory_equal(turns, rows[r].turns, sizeof(turns));
    }
}

/* Who got which id, as digits; ends at `last`. */
struct dealt {
    char text[16];
    uint32_t last;
};

static bool give(void *context, uint32_t node, uint32_t local, uint32_t id)
{
    struct dealt *dealt = context;

    (void) local;
    dealt->text[id] = (char) ('a' + node);
    return id != dealt->last;
}

static void test_deal(void **state)
{
    static const uint32_t counts[] = {3, 1, 4};
    static const struct {
        uint32_t turn, last;
        const char *text;
    } rows[] = {{ASP_TURN_BLOCK, 99, "aaabcccc"},
                {1, 99, "abcacacc"},
                {2, 99, "aabccacc"},
                {1, 2, "abc"}};

    (void) state;
    for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
        struct dealt dealt = {.last = rows[r].last};
        struct asp_deal deal = {
            .counts = counts, .nnodes = 3, .give = give, .context = &dealt};

        assert_int_equal(asp_taskmap_deal(&deal, rows[r].turn), 0);
        assert_string_equal(dealt.text, rows[r].text);
        assert_true(deal.looks <= 2 * 8);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_turns),
        cmocka_unit_test(test_deal),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
