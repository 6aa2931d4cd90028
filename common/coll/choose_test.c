/* SPDX-License-Identifier: BSD-3-Clause */
/* The choice: never behind MPICH's algorithms, close to the exhaustive best,
 * the same every time. bench/coll_model has the whole table. */
#include "common/coll/choose.h"
#include "common/coll/mpich.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { RANKS = 12 };

static uint32_t node[RANKS];

static struct asp_coll_problem make(enum asp_coll_op op, uint32_t each,
                                    size_t bytes)
{
    for (uint32_t r = 0; r < RANKS; r++)
        node[r] = r / each;
    return (struct asp_coll_problem){.op = op,
                                     .ranks = RANKS,
                                     .bytes = bytes,
                                     .grain = 8,
                                     .commutative = true,
                                     .node = node};
}

static int64_t best_time(const struct asp_coll_machine *machine,
                         const struct asp_coll_problem *p, bool exhaustive)
{
    struct asp_coll_effort effort = {.exhaustive = exhaustive};
    struct asp_coll_candidate *list;
    struct asp_err err;
    uint32_t n;
    int64_t time;

    assert_int_equal(asp_coll_choose(machine, p, &effort, &list, &n, &err), 0);
    for (uint32_t i = 1; i < n && list[i].fate == ASP_COLL_OK; i++)
        assert_true(list[i].cost.time >= list[i - 1].cost.time);
    time = list[0].cost.time;
    free(list);
    return time;
}

static void check_mpich(const struct asp_coll_machine *machine,
                        const struct asp_coll_problem *p, int64_t chosen)
{
    const char *const *texts = asp_coll_mpich_ways(p->op);
    struct asp_coll_cost cost;
    struct asp_coll_way way;
    struct asp_err err;

    for (; *texts; texts++) {
        assert_int_equal(asp_coll_way_parse(*texts, &way, &err), 0);
        if (asp_coll_fits(&way, p, NULL) < 0)
            continue;
        assert_int_equal(asp_coll_predict(machine, &way, p, 1, &cost, &err), 0);
        assert_true(chosen <= cost.time);
    }
    assert_int_equal(asp_coll_mpich(p, &way, &err), 0);
    assert_int_equal(asp_coll_fits(&way, p, &err), 0);
}

static void test_choice(void **state)
{
    static const size_t bytes[] = {8, 4096, 262144};
    unsigned points = 0, near = 0;

    (void) state;
    for (int op = 0; op < ASP_COLL_SCATTERV; op++)
        for (size_t i = 0; op != ASP_COLL_REDUCE_SCATTER && i < 3; i++)
            for (size_t m = 0; asp_coll_machines[m].name; m++) {
                struct asp_coll_problem p = make((enum asp_coll_op) op,
                                                 m == 1 ? RANKS : 3, bytes[i]);
                int64_t chosen = best_time(&asp_coll_machines[m], &p, false);
                int64_t best = best_time(&asp_coll_machines[m], &p, true);

                check_mpich(&asp_coll_machines[m], &p, chosen);
                assert_true(chosen >= best);
                points++;
                near += (double) chosen <= 1.05 * (double) best;
            }
    assert_true(near * 100 >= points * 95);
}

/* Aggregation wins where messages are dear, and loses where bytes are. */
static void test_crossover(void **state)
{
    const struct asp_coll_machine *tcp = asp_coll_machine_find("tcp");
    struct asp_coll_candidate *list;
    struct asp_coll_problem p;
    struct asp_err err;
    uint32_t n;

    (void) state;
    p = make(ASP_COLL_ALLTOALL, 4, 8);
    assert_int_equal(asp_coll_choose(tcp, &p, NULL, &list, &n, &err), 0);
    assert_string_equal(list[0].way.row->name, "levels");
    free(list);
    p = make(ASP_COLL_ALLTOALL, 4, 1 << 20);
    assert_int_equal(asp_coll_choose(tcp, &p, NULL, &list, &n, &err), 0);
    assert_string_equal(list[0].way.row->name, "flat");
    free(list);
}

/* A limit of steps leaves out what is too large, and says when that is all. */
static void test_limits(void **state)
{
    const struct asp_coll_machine *sun = asp_coll_machine_find("sun");
    struct asp_coll_problem p = make(ASP_COLL_ALLTOALL, 4, 8);
    struct asp_coll_effort effort = {.max_steps = 280};
    struct asp_coll_candidate *list;
    struct asp_err err;
    uint32_t n;

    (void) state;
    assert_int_equal(asp_coll_choose(sun, &p, &effort, &list, &n, &err), 0);
    assert_int_equal(list[n - 1].fate, ASP_COLL_LARGE);
    free(list);
    effort.max_steps = 1;
    assert_int_equal(asp_coll_choose(sun, &p, &effort, &list, &n, &err), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_choice),
        cmocka_unit_test(test_crossover),
        cmocka_unit_test(test_limits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
