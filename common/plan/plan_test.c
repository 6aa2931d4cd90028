/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules that every placement must keep, tried on random machines, step CPUs
 * and counts; then bound, reasons and refusals. */
#include "plan.h"

#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { ROUNDS = 1500 };

/* One random case; seed names it in messages. */
struct shape {
    unsigned seed;
    char machine[64];
    struct asp_topo *topo;
    struct asp_plan_request request;
    struct asp_layout_node node;
    uint32_t ranks[ASP_TASKS_MAX];
};

static unsigned seed_now;

static uint32_t pick(uint32_t low, uint32_t high)
{
    seed_now = seed_now * 1103515245u + 12345u;
    return low + (seed_now >> 12) % (high - low + 1);
}

#define check(shape, truth)                                                    \
    do {                                                                       \
        if (!(truth))                                                          \
            fail_msg("%s (seed %u, %s, %u tasks, %u ghosts)", #truth,          \
                     (shape)->seed, (shape)->machine,                          \
                     (unsigned) (shape)->node.ntasks,                          \
                     (unsigned) (shape)->request.ghosts_per_node);             \
    } while (0)

static void make_shape(struct shape *shape, unsigned seed)
{
    static const uint32_t widths[] = {1, 1, 2, 4};
    uint32_t packages, numas, cores, smt;
    struct asp_cpuset cpus = {0};

    memset(shape, 0, sizeof(*shape));
    shape->seed = seed_now = seed;
    packages = pick(1, 2);
    numas = pick(1, 3);
    cores = pick(1, 9);
    smt = widths[pick(0, 3)];
    snprintf(shape->machine, sizeof(shape->machine),
             "pack:%u numa:%u core:%u pu:%u", packages, numas, cores, smt);
    for (uint32_t cpu = 0; cpu < packages * numas * cores * smt; cpu++) {
        if (seed % 3 || pick(0, 3))
            asp_cpuset_add(&cpus, cpu);
    }
    if (!asp_cpuset_count(&cpus))
        asp_cpuset_add(&cpus, 0);
    if (asp_topo_load(shape->machine, &cpus, &shape->topo, NULL))
        fail_msg("%s", shape->machine);
    shape->request.mode = ASP_MODE_GHOST;
    shape->request.ghosts_per_node = pick(1, 5);
    shape->request.spread = pick(0, 3) ? ASP_SPREAD_NUMA : ASP_SPREAD_PACK;
    shape->request.share = pick(0, 3) == 0;
    shape->request.use_threads = pick(0, 3) == 0;
    shape->request.may_bind = true;
    shape->node.ntasks = shape->request.ghosts_per_node + pick(1, 20);
    for (uint32_t i = 0; i < shape->node.ntasks; i++)
        shape->ranks[i] = i;
    shape->node.ranks_world = shape->ranks;
    shape->request.nodes = &shape->node;
    shape->request.nnodes = 1;
}

static uint32_t step_cores(const struct asp_topo *topo)
{
    uint32_t count = 0;

    for (uint32_t c = 0; c < topo->ncores; c++)
        count += topo->cores[c].nallowed > 0;
    return count;
}

static bool touches(const struct asp_core *core, const struct asp_cpuset *set)
{
    bool any = false;

    for (uint32_t i = 0; i < core->ncpus; i++)
        any |= asp_cpuset_has(set, core->cpu_os[i]);
    return any;
}

static uint32_t cores_of(const struct asp_topo *topo,
                         const struct asp_cpuset *set)
{
    uint32_t count = 0;

    for (uint32_t c = 0; c < topo->ncores; c++)
        count += touches(&topo->cores[c], set);
    return count;
}

/* Not enough for a core each: then the policy may allow less. */
static bool few_cores(const struct shape *shape,
                      const struct asp_layout *layout)
{
    return step_cores(shape->topo) < layout->ntasks;
}

/* No CPU twice, none outside the step, no core of a helper with another task
 * on it. */
static void check_apart(const struct shape *shape,
                        const struct asp_layout *layout)
{
    for (uint32_t c = 0; c < shape->topo->ncores; c++) {
        const struct asp_core *core = &shape->topo->cores[c];
        uint32_t on_core = 0;

        for (uint32_t t = 0; t < layout->ntasks; t++)
            on_core += touches(core, &layout->tasks[t].cpus);
        if (!few_cores(shape, layout))
            check(shape, on_core <= 1);
        check(shape, on_core <= 2 * core->nallowed);
        for (uint32_t i = 0; i < core->ncpus; i++) {
            uint32_t on_cpu = 0;

            for (uint32_t t = 0; t < layout->ntasks; t++)
                on_cpu += asp_cpuset_has(&layout->tasks[t].cpus,
                                         core->cpu_os[i]);
            check(shape, on_cpu == 0 || core->allowed[i]);
            check(shape, on_cpu <= 1 || (shape->request.share && on_cpu == 2));
        }
    }
}

/* Equal runs, and no fewer cores than there are for everybody. */
static void check_users(const struct shape *shape,
                        const struct asp_layout *layout)
{
    uint32_t ghosts = shape->request.ghosts_per_node;
    uint32_t users = layout->ntasks - ghosts;
    uint32_t cores = step_cores(shape->topo), last = 0;
    uint32_t run = cores < users + ghosts ? cores / users
                                          : (cores - ghosts) / users;

    for (uint32_t u = 0; u < users; u++) {
        const struct asp_layout_task *task = &layout->tasks[u];
        int first = asp_cpuset_next(&task->cpus, 0);

        check(shape, few_cores(shape, layout) ||
                         cores_of(shape->topo, &task->cpus) == run);
        check(shape, u == 0 || (uint32_t) first > last);
        last = (uint32_t) first;
    }
}

static void check_ghosts(const struct shape *shape,
                         const struct asp_layout *layout)
{
    uint32_t users = layout->ntasks - shape->request.ghosts_per_node;

    for (uint32_t g = users; g < layout->ntasks; g++)
        check(shape, cores_of(shape->topo, &layout->tasks[g].cpus) == 1);
    for (uint32_t u = 0; u < users; u++) {
        const struct asp_layout_task *task = &layout->tasks[u];
        const struct asp_layout_task *mine;

        check(shape, task->ghost >= users && task->ghost < layout->ntasks);
        mine = &layout->tasks[task->ghost];
        for (uint32_t g = users; g < layout->ntasks; g++)
            check(shape,
                  asp_topo_distance(shape->topo, (uint32_t) task->numa,
                                    (uint32_t) mine->numa) <=
                      asp_topo_distance(shape->topo, (uint32_t) task->numa,
                                        (uint32_t) layout->tasks[g].numa));
    }
}

/* One ghost per domain before any has two, where domains have the room. */
static void check_spread(const struct shape *shape,
                         const struct asp_layout *layout)
{
    uint32_t cores[8] = {0}, ghosts[8] = {0}, most = 0;
    bool left_out = false;

    if (shape->request.spread != ASP_SPREAD_NUMA)
        return;
    for (uint32_t c = 0; c < shape->topo->ncores; c++)
        cores[shape->topo->cores[c].numa_log] +=
            shape->topo->cores[c].nallowed == shape->topo->cores[c].ncpus;
    for (uint32_t t = 0; t < layout->ntasks; t++) {
        if (layout->tasks[t].role == ASP_ROLE_GHOST)
            ghosts[layout->tasks[t].numa]++;
    }
    for (uint32_t d = 0; d < shape->topo->nnumas; d++) {
        if (ghosts[d] > most)
            most = ghosts[d];
        left_out |= !ghosts[d] && cores[d] >= 2;
    }
    check(shape, most <= 1 || !left_out);
}

/* The text must come back, with the decoder's own checks, and the same again
 * from a second plan. */
static void check_text(const struct shape *shape,
                       const struct asp_layout *layout)
{
    static char one[ASP_LAYOUT_TEXT_MAX], two[ASP_LAYOUT_TEXT_MAX];
    struct asp_layout *again = NULL, *decoded = NULL;
    struct asp_err err = {0};
    int len = asp_layout_encode(layout, one, sizeof(one), NULL);

    check(shape, len > 0);
    if (asp_layout_decode(one, (size_t) len, &decoded, &err))
        fail_msg("seed %u: %s", shape->seed, err.text);
    check(shape, !asp_plan(shape->topo, &shape->request, &again, NULL));
    check(shape, asp_layout_encode(again, two, sizeof(two), NULL) == len);
    check(shape, !strcmp(one, two));
    asp_layout_destroy(again);
    asp_layout_destroy(decoded);
}

static void test_rules(void **state)
{
    static struct shape shape;
    int placed = 0;

    (void) state;
    for (unsigned seed = 1; seed <= ROUNDS; seed++) {
        struct asp_layout *layout = NULL;
        struct asp_err err = {0};
        uint32_t cores;

        make_shape(&shape, seed);
        cores = step_cores(shape.topo);
        if (asp_plan(shape.topo, &shape.request, &layout, &err))
            fail_msg("seed %u: %s", seed, err.text);
        check(&shape, !layout->bound);
        check_text(&shape, layout);
        if (layout->tasks[0].numa < 0) {
            check(&shape, cores < shape.node.ntasks);
            check(&shape, strstr(layout->reason, "more CPUs"));
        } else {
            placed++;
            check(&shape, !strcmp(layout->reason, "pretended CPUs"));
            check_apart(&shape, layout);
            check_users(&shape, layout);
            check_ghosts(&shape, layout);
            check_spread(&shape, layout);
        }
        asp_layout_destroy(layout);
        asp_topo_destroy(shape.topo);
    }
    assert_true(placed > ROUNDS / 4 && placed < ROUNDS);
}

/* Two nodes, cyclic ranks: roles and user ranks of the second. */
static void test_ranks(void **state)
{
    uint32_t even[] = {0, 2, 4}, odd[] = {1, 3, 5};
    struct asp_layout_node nodes[] = {{"n1", 3, even}, {"n2", 3, odd}};
    struct asp_plan_request request = {.job = "7.1",
                                       .mode = ASP_MODE_GHOST,
                                       .ghosts_per_node = 1,
                                       .nodes = nodes,
                                       .nnodes = 2,
                                       .node = 1};
    struct asp_layout *layout = NULL;

    (void) state;
    assert_int_equal(asp_plan(NULL, &request, &layout, NULL), 0);
    assert_false(layout->bound);
    assert_string_equal(layout->reason, "the topology is not known");
    assert_string_equal(layout->job, "7.1");
    assert_int_equal(layout->size_world, 6);
    assert_int_equal(layout->tasks[0].rank_user, 1);
    assert_int_equal(layout->tasks[1].rank_user, 3);
    assert_int_equal(layout->tasks[1].ghost, 5);
    assert_int_equal(layout->tasks[2].role, ASP_ROLE_GHOST);
    assert_int_equal(layout->tasks[2].rank_user, ASP_RANK_NONE);
    asp_layout_destroy(layout);
    request.reason = "no hwloc";
    assert_int_equal(asp_plan(NULL, &request, &layout, NULL), 0);
    assert_string_equal(layout->reason, "no hwloc");
    asp_layout_destroy(layout);
}

/* Real CPUs are bound unless the caller may not. */
static void test_bound(void **state)
{
    uint32_t ranks[] = {0, 1};
    struct asp_layout_node node = {"", 2, ranks};
    struct asp_plan_request request = {.mode = ASP_MODE_GHOST,
                                       .ghosts_per_node = 1,
                                       .share = true,
                                       .may_bind = true,
                                       .nodes = &node,
                                       .nnodes = 1};
    struct asp_layout *layout = NULL;
    struct asp_topo *topo = NULL;

    (void) state;
    unsetenv("HWLOC_SYNTHETIC");
    unsetenv("HWLOC_XMLFILE");
    assert_int_equal(asp_topo_load(NULL, NULL, &topo, NULL), 0);
    assert_int_equal(asp_plan(topo, &request, &layout, NULL), 0);
    assert_true(layout->bound);
    assert_string_equal(layout->reason, "");
    asp_layout_destroy(layout);
    request.may_bind = false;
    request.reason = "nodes share their CPUs";
    assert_int_equal(asp_plan(topo, &request, &layout, NULL), 0);
    assert_false(layout->bound);
    assert_string_equal(layout->reason, "nodes share their CPUs");
    assert_true(asp_cpuset_count(&layout->tasks[0].cpus) > 0);
    asp_layout_destroy(layout);
    asp_topo_destroy(topo);
}

static void test_refused(void **state)
{
    uint32_t ranks[] = {0, 1}, one[] = {2};
    struct asp_layout_node nodes[] = {{"", 2, ranks}, {"", 1, one}};
    struct asp_plan_request request = {.mode = ASP_MODE_GHOST,
                                       .ghosts_per_node = 1,
                                       .nodes = nodes,
                                       .nnodes = 2};
    struct asp_layout *layout = NULL;
    struct asp_err err = {0};

    (void) state;
    assert_int_equal(asp_plan(NULL, &request, &layout, &err), -1);
    assert_int_equal(errno, EINVAL);
    assert_non_null(strstr(err.text, "node 1"));
    request.nnodes = 1;
    request.mode = ASP_MODE_AUTO;
    assert_int_equal(asp_plan(NULL, &request, &layout, &err), -1);
    request.mode = ASP_MODE_OFFLOAD;
    assert_int_equal(asp_plan(NULL, &request, &layout, &err), -1);
    request.node = 1;
    request.ghosts_per_node = 0;
    assert_int_equal(asp_plan(NULL, &request, &layout, &err), -1);
    assert_null(layout);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_ranks),
        cmocka_unit_test(test_bound),
        cmocka_unit_test(test_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
