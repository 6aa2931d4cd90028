/* SPDX-License-Identifier: BSD-3-Clause */
/* The choice: never behind MPICH's algorithms, and the best of all, which its
 * bounds must not hide. bench/coll_model has the whole table. */
#include "common/coll/model/bound.h"
#include "common/coll/model/choose.h"
#include "common/coll/model/mpich.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* Of MANY ranks bounds follow messages from rank to rank. */
enum { RANKS = 12, MANY = 30 };

static uint32_t node[MANY];

static struct asp_coll_problem make_of(enum asp_coll_op op, uint32_t ranks,
                                       uint32_t each, size_t bytes)
{
    for (uint32_t r = 0; r < ranks; r++)
        node[r] = r / each;
    return (struct asp_coll_problem){.op = op,
                                     .ranks = ranks,
                                     .bytes = bytes,
                                     .element_size = 8,
                                     .commutative = true,
                                     .node = node};
}

static struct asp_coll_problem make(enum asp_coll_op op, uint32_t each,
                                    size_t bytes)
{
    return make_of(op, RANKS, each, bytes);
}

static int64_t best_time(const struct asp_coll_machine *machine,
                         const struct asp_coll_problem *p, uint32_t wanted)
{
    struct asp_coll_effort effort = {.wanted = wanted};
    struct asp_coll_candidate *list;
    struct asp_err err;
    uint32_t n;
    int64_t time;

    assert_int_equal(asp_coll_choose(machine, p, &effort, &list, &n, &err), 0);
    for (uint32_t i = 1; i < n && list[i].fate == ASP_COLL_OK; i++)
        assert_true(list[i].cost.time >= list[i - 1].cost.time);
    for (uint32_t i = 0; i < n; i++)
        assert_int_not_equal(list[i].fate, ASP_COLL_UNTRIED);
    time = list[0].cost.time;
    free(list);
    return time;
}

enum { CONFIGS_MAX = 512 };

/* Every configuration, one after the other, by time. */
static uint32_t try_all(const struct asp_coll_machine *machine,
                        const struct asp_coll_problem *p,
                        int64_t times[CONFIGS_MAX])
{
    struct asp_coll_configs configs = {0};
    uint32_t n = 0;

    for (; asp_coll_configs_next(&configs, p); n++) {
        struct asp_coll_cost cost;
        struct asp_err err;
        uint32_t i = n;

        assert_true(n < CONFIGS_MAX);
        assert_int_equal(
            asp_coll_predict(machine, &configs.config, p, 1, &cost, &err), 0);
        for (; i && times[i - 1] > cost.time; i--)
            times[i] = times[i - 1];
        times[i] = cost.time;
    }
    return n;
}

/* The choice is that of simulating all, and so are those behind it. */
static void check_best(const struct asp_coll_machine *machine,
                       const struct asp_coll_problem *p)
{
    static int64_t times[CONFIGS_MAX];
    uint32_t all = try_all(machine, p, times), n;
    struct asp_coll_effort few = {.wanted = 5}, none = {.below = times[0]},
                           some = {.below = times[0] + 1};
    struct asp_coll_candidate *list;
    struct asp_err err;

    assert_true(best_time(machine, p, 1) == times[0]);
    assert_true(best_time(machine, p, 0) == times[0]);
    assert_int_equal(asp_coll_choose(machine, p, &few, &list, &n, &err), 0);
    assert_int_equal(n, all);
    for (uint32_t i = 0; i < 5 && i < n && times[i] <= 2 * times[0]; i++) {
        assert_int_equal(list[i].fate, ASP_COLL_OK);
        assert_true(list[i].cost.time == times[i]);
    }
    free(list);
    assert_int_equal(asp_coll_choose(machine, p, &none, &list, &n, &err), 0);
    assert_int_not_equal(list[0].fate, ASP_COLL_OK);
    free(list);
    assert_int_equal(asp_coll_choose(machine, p, &some, &list, &n, &err), 0);
    assert_int_equal(list[0].fate, ASP_COLL_OK);
    free(list);
}

static void check_mpich(const struct asp_coll_machine *machine,
                        const struct asp_coll_problem *p, int64_t chosen)
{
    const char *const *texts = asp_coll_mpich_configs(p->op);
    struct asp_coll_cost cost;
    struct asp_coll_config config;
    struct asp_err err;

    for (; *texts; texts++) {
        assert_int_equal(asp_coll_config_parse(*texts, &config, &err), 0);
        if (asp_coll_fits(&config, p, NULL) < 0)
            continue;
        assert_int_equal(asp_coll_predict(machine, &config, p, 1, &cost, &err),
                         0);
        assert_true(chosen <= cost.time);
    }
    assert_int_equal(asp_coll_mpich(p, &config, &err), 0);
    assert_int_equal(asp_coll_fits(&config, p, &err), 0);
}

static void test_choice(void **state)
{
    static const size_t bytes[] = {8, 4096, 65536};

    (void) state;
    for (int op = 0; op < ASP_COLL_SCATTERV; op++)
        for (size_t i = 0; op != ASP_COLL_REDUCE_SCATTER && i < 3; i++)
            for (size_t m = 0; asp_coll_machines[m].name; m++) {
                struct asp_coll_problem p = make((enum asp_coll_op) op,
                                                 m == 1 ? RANKS : 3, bytes[i]);

                check_mpich(&asp_coll_machines[m], &p,
                            best_time(&asp_coll_machines[m], &p, 0));
                if (m == ((size_t) op + i) % 3)
                    check_best(&asp_coll_machines[m], &p);
            }
}

/* How close bounds are. */
struct closeness {
    double sum;
    unsigned n;
};

/* A bound holds, and says so when it is above the limit. */
static void check_bounds(const struct asp_coll_machine *machine,
                         const struct asp_coll_problem *p,
                         struct closeness *closeness)
{
    struct asp_coll_configs configs = {0};
    struct asp_coll_nodes nodes;

    assert_int_equal(asp_coll_nodes_make(p->node, p->ranks, &nodes), 0);
    while (asp_coll_configs_next(&configs, p)) {
        struct asp_coll_cost cost;
        struct asp_err err;
        int64_t bound = asp_coll_bound(machine, &configs.config, p, &nodes,
                                       INT64_MAX);

        assert_int_equal(
            asp_coll_predict(machine, &configs.config, p, 1, &cost, &err), 0);
        assert_true(bound <= cost.time);
        assert_true(asp_coll_bound(machine, &configs.config, p, &nodes,
                                   cost.time) <= cost.time);
        if (bound > 0)
            assert_true(asp_coll_bound(machine, &configs.config, p, &nodes,
                                       bound / 2) > bound / 2);
        closeness->sum += (double) bound / (double) cost.time;
        closeness->n++;
    }
    asp_coll_nodes_destroy(&nodes);
}

/* Also where a node has several ranks, roots are others, operations do not
 * commute, and ranks are dealt to nodes: three of these for each operation. */
static void test_bounds(void **state)
{
    static const struct {
        uint32_t each, root;
        bool cyclic, ordered;
    } cases[] = {
        {1, 0, false, false},  {MANY, 5, false, false}, {3, 0, false, true},
        {6, 29, false, true},  {7, 7, false, false},    {5, 1, true, false},
        {10, 9, false, false},
    };
    static const size_t bytes[] = {8, 512, 16384};
    struct closeness closeness = {0};

    (void) state;
    for (int op = 0; op < ASP_COLL_SCATTERV; op++)
        for (size_t i = 0; op != ASP_COLL_REDUCE_SCATTER && i < 3; i++) {
            size_t c = (3 * (size_t) op + i) %
                       (sizeof(cases) / sizeof(cases[0]));
            struct asp_coll_problem p = make_of((enum asp_coll_op) op, MANY,
                                                cases[c].each, bytes[i]);

            for (uint32_t r = 0; cases[c].cyclic && r < MANY; r++)
                node[r] = r % (MANY / cases[c].each);
            p.root = cases[c].root;
            p.commutative = !cases[c].ordered;
            check_bounds(&asp_coll_machines[i], &p, &closeness);
        }
    assert_true(closeness.sum > 0.8 * closeness.n);
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
    assert_string_equal(list[0].config.row->name, "levels");
    free(list);
    p = make(ASP_COLL_ALLTOALL, 4, 1 << 20);
    assert_int_equal(asp_coll_choose(tcp, &p, NULL, &list, &n, &err), 0);
    assert_string_equal(list[0].config.row->name, "flat");
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
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_crossover),
        cmocka_unit_test(test_limits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
