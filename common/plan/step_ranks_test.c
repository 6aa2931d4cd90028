/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit tests of step_ranks.c; the expected ranks were worked out by hand from
 * the description of each distribution in srun(1). */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "step_ranks.h"

static void computes(void **state)
{
    static const struct {
        const char *tasks, *dist;
        uint32_t plane;
        const char *ranks; /* of each node, joined by a bar */
    } rows[] = {
        {"3(x2)", NULL, 0, "0,1,2|3,4,5"},
        {"3,1", "block", 0, "0,1,2|3"},
        {"2(x2),1", "cyclic", 0, "0,3|1,4|2"},
        {"3,1", "cyclic:block", 0, "0,2,3|1"},
        {"4,3", "plane=2", 0, "0,1,4,5|2,3,6"},
        {"4,3", "plane", 3, "0,1,2,6|3,4,5"},
        {"1", "*", 0, "0"},
        {"2,2", "block:cyclic,pack", 0, "0,1|2,3"},
    };

    (void) state;
    for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
        struct asp_step_ranks *steps = NULL;
        char text[64] = "";
        size_t used = 0;

        assert_int_equal(asp_step_ranks_compute(rows[r].tasks, rows[r].dist,
                                                rows[r].plane, &steps, NULL),
                         0);
        for (uint32_t n = 0; n < steps->nnodes; n++)
            for (uint32_t i = 0; i < steps->nodes[n].ntasks; i++)
                used += (size_t) snprintf(
                    text + used, sizeof(text) - used, "%s%u",
                    i       ? ","
                    : n > 0 ? "|"
                            : "",
                    (unsigned) steps->nodes[n].ranks_world[i]);
        assert_string_equal(text, rows[r].ranks);
        asp_step_ranks_destroy(steps);
    }
}

static void refuses(void **state)
{
    static const struct {
        const char *tasks, *dist;
        int errnum;
    } rows[] = {
        {"", NULL, EINVAL},          {"0", NULL, EINVAL},
        {"3(x0)", NULL, EINVAL},     {"3(x2", NULL, EINVAL},
        {"3,", NULL, EINVAL},        {"3 ,2", NULL, EINVAL},
        {"-1", NULL, EINVAL},        {"1025", NULL, EINVAL},
        {"2(x70000)", NULL, EINVAL}, {"1024(x2000)", NULL, E2BIG},
        {"2", "arbitrary", ENOTSUP}, {"2", "plane", EINVAL},
        {"2", "plane=0", EINVAL},    {"2", "sideways", EINVAL},
    };

    (void) state;
    for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
        struct asp_step_ranks *steps = NULL;
        struct asp_err err = {.text = ""};

        assert_int_equal(asp_step_ranks_compute(rows[r].tasks, rows[r].dist, 0,
                                                &steps, &err),
                         -1);
        assert_int_equal(errno, rows[r].errnum);
        assert_true(err.text[0] != '\0');
        assert_null(steps);
    }
}

static void finds(void **state)
{
    static const uint32_t cyclic[] = {1, 3}, odd[] = {0, 5};
    struct asp_step_ranks *steps = NULL;
    struct asp_err err = {.text = ""};

    (void) state;
    /* Announced as block, dealt cyclically. */
    assert_int_equal(
        asp_step_ranks_find("2(x2)", "block", 0, 1, cyclic, 2, &steps, &err),
        0);
    assert_int_equal(steps->nodes[0].ranks_world[1], 2);
    assert_int_equal(asp_step_ranks_verify(steps, 1, cyclic, 2, &err), 0);
    assert_int_equal(asp_step_ranks_verify(steps, 0, cyclic, 2, &err), -1);
    assert_non_null(strstr(err.text, "1,3"));
    assert_int_equal(asp_step_ranks_verify(steps, 2, cyclic, 2, &err), -1);
    asp_step_ranks_destroy(steps);
    steps = NULL;
    assert_int_equal(
        asp_step_ranks_find("2(x3)", "block", 0, 0, odd, 2, &steps, &err), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(asp_step_ranks_find("2(x2)", "arbitrary", 0, 1, cyclic, 2,
                                         &steps, &err),
                     -1);
    assert_int_equal(errno, ENOTSUP);
    assert_null(steps);
}

static void parses_ranks(void **state)
{
    static const char *const bad[] = {"a",   "1,",  "3-1", "1,1",
                                      "2,1", "0-9", "-1",  "1048576"};
    uint32_t ranks[4], count = 4;

    (void) state;
    assert_int_equal(asp_ranks_parse("0-2,5", ranks, &count), 0);
    assert_int_equal(count, 4);
    assert_int_equal(ranks[3], 5);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        count = 4;
        assert_int_equal(asp_ranks_parse(bad[i], ranks, &count), -1);
        assert_int_equal(count, 4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(computes),
        cmocka_unit_test(refuses),
        cmocka_unit_test(finds),
        cmocka_unit_test(parses_ranks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
