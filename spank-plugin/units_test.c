/* SPDX-License-Identifier: BSD-3-Clause */
/* The plugin's pure parts: request, counts and ranks, settings, growth, the
 * layout of a degraded node. */
#include "config.h"

#include "counts.h"
#include "degraded.h"
#include "filter.h"
#include "options.h"
#include "settings.h"
#include "spank_host.h"

#include "common/layout/layout.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static void test_counts(void **state)
{
    static const char *const bad[] = {"",    "x",   "3,",     ",3",
                                      "3(x", "3()", "3(x0)",  "0",
                                      "3 ",  "-3",  "3(x2)4", "99999999999"};
    char buf[32];

    (void) state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (asp_counts_less(bad[i], 1, buf, sizeof(buf)) != -1)
            fail_msg("less \"%s\"", bad[i]);
    assert_int_equal(asp_counts_less("4(x2),3", 1, buf, sizeof(buf)), 7);
    assert_string_equal(buf, "3(x2),2");
    assert_int_equal(asp_counts_less("1", 1, buf, sizeof(buf)), -1);
    assert_int_equal(asp_counts_less("4(x2),3", 1, buf, 7), -1);
    assert_int_equal(errno, ENOSPC);
}

/* User ranks of node `node` as text "0,2,-". */
static const char *user_ranks(const char *distribution, uint32_t plane,
                              const char *list, uint32_t node, uint32_t ghosts,
                              const uint32_t *world)
{
    static char text[256];
    uint32_t counts[8], user[8];
    int n = asp_counts_parse(list, 1, ASP_TASKS_MAX, counts, 8);
    struct asps_step_map map = {.counts = counts,
                                .nnodes = (uint32_t) n,
                                .node = node,
                                .ghosts = ghosts,
                                .plane_size = plane,
                                .distribution = distribution};
    size_t used = 0;

    for (int i = 0; i < n; i++)
        map.ntasks += counts[i];
    if (asps_user_ranks(&map, world, user) < 0)
        return "none";
    for (uint32_t i = 0; i < counts[node]; i++)
        used += (size_t) snprintf(text + used, sizeof(text) - used,
                                  user[i] == ASP_RANK_NONE ? "%s-" : "%s%u",
                                  i ? "," : "", (unsigned) user[i]);
    return text;
}

#define RANKS(...)                                                             \
    (const uint32_t[])                                                         \
    {                                                                          \
        __VA_ARGS__                                                            \
    }

static void test_user_ranks(void **state)
{
    (void) state;
    assert_string_equal(user_ranks("", 0, "3(x2)", 0, 1, RANKS(0, 1, 2)),
                        "0,1,-");
    assert_string_equal(user_ranks("block", 0, "3(x2)", 1, 1, RANKS(3, 4, 5)),
                        "2,3,-");
    assert_string_equal(user_ranks("", 0, "4,3", 1, 2, RANKS(4, 5, 6)),
                        "2,-,-");
    assert_string_equal(user_ranks("cyclic", 0, "3(x2)", 1, 1, RANKS(1, 3, 5)),
                        "1,3,-");
    /* Slurm does not always say how it dealt: the ranks do. */
    assert_string_equal(user_ranks("", 0, "3(x2)", 1, 1, RANKS(1, 3, 5)),
                        "1,3,-");
    assert_string_equal(
        user_ranks("plane", 2, "4(x2)", 1, 1, RANKS(2, 3, 6, 7)), "2,3,5,-");
    assert_string_equal(user_ranks("plane", 3, "3(x2)", 1, 1, RANKS(3, 4, 5)),
                        "2,3,-");
    assert_string_equal(
        user_ranks("arbitrary", 0, "3(x2)", 0, 1, RANKS(0, 2, 3)), "none");
    assert_string_equal(user_ranks("", 0, "3(x2)", 7, 1, RANKS(0, 1, 2)),
                        "none");
}

enum { MANY_NODES = 4000 };

/* What it costs to number the tasks of a node of 4,000: the first node has
 * `first` tasks, the others have one; the step has `ntasks`, 0: as many. Looks,
 * or the negative errno. */
static long cost_of(const char *distribution, uint32_t first, uint32_t ntasks,
                    uint32_t node, const uint32_t *world)
{
    static uint32_t counts[MANY_NODES], user[ASP_TASKS_MAX];
    uint64_t looks = 0;
    struct asps_step_map map = {.counts = counts,
                                .ntasks = ntasks ? ntasks
                                                 : first + MANY_NODES - 1,
                                .nnodes = MANY_NODES,
                                .node = node,
                                .distribution = distribution,
                                .looks_p = &looks};

    for (uint32_t i = 0; i < MANY_NODES; i++)
        counts[i] = i ? 1 : first;
    if (asps_user_ranks(&map, world, user) < 0)
        return errno == ENOENT ? (long) looks : -errno;
    return (long) looks;
}

/* Root counts with numbers of the user's environment: whatever they are, it
 * has done after a few looks at each task that Slurm launches. */
static void test_ranks_cost(void **state)
{
    const uint32_t tasks = ASP_TASKS_MAX + MANY_NODES - 1;
    static uint32_t wrong[ASP_TASKS_MAX];
    const char *const distributions[] = {"", "block", "cyclic", "plane"};

    (void) state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        wrong[i] = 7;
    for (size_t i = 0; i < sizeof(distributions) / sizeof(char *); i++) {
        const char *by = distributions[i];

        /* In no way of dealing is the last node's task the one before last. */
        assert_in_range(
            cost_of(by, ASP_TASKS_MAX, 0, MANY_NODES - 1, RANKS(tasks - 2)),
            MANY_NODES, 6 * tasks);
        /* The first task of the first node is never task 7. */
        assert_in_range(cost_of(by, ASP_TASKS_MAX, 0, 0, wrong), 1, 6);
        /* A million tasks on one node; a sum that is not the step's. */
        assert_int_equal(cost_of(by, 1000000, 0, 1, RANKS(1)), -EINVAL);
        assert_int_equal(cost_of(by, 9, MANY_NODES, 1, RANKS(1)), -EINVAL);
    }
}

static void test_grown(void **state)
{
    static const char *const bad[] = {
        "",
        "users=6",
        "users=6 ghosts=1 nodes=2 tasks=9 per_node=0",
        "users=6 ghosts=1 nodes=0 tasks=6 per_node=0",
        "users=6 ghosts=1 nodes=2 tasks=8 per_node=1",
        "users=6 ghosts=1 nodes=2 tasks=8 per_node=4x",
        "users=6 ghosts=1 nodes=2 tasks=8 per_node=4 plane=0",
        "users=6 ghosts=1 nodes=2 tasks=8 per_node=4 plane=2,",
        "users=-1 ghosts=1 nodes=2 tasks=1 per_node=0",
        "users=6 ghosts=1 nodes=2 tasks=8 per_node=-4",
        "users=6 ghosts=1 nodes=2 tasks=+8 per_node=4",
        "users=6  ghosts=1 nodes=2 tasks=8 per_node=4",
        "users= 6 ghosts=1 nodes=2 tasks=8 per_node=4",
        "users=6 ghosts=1 nodes=2 tasks=8 per_node=0000000004"};
    struct asps_grown grown = {6, 1, 2, 8, 4, 0}, back;
    char buf[128];

    (void) state;
    assert_int_equal(asps_grown_parse("users=6 ghosts=1 nodes=2 tasks=8 "
                                      "per_node=4 plane=2",
                                      &back),
                     0);
    assert_int_equal(back.plane, 2);
    assert_true(asps_grown_print(&back, buf, sizeof(buf)) > 0);
    assert_non_null(strstr(buf, "per_node=4 plane=2"));
    assert_true(asps_grown_print(&grown, buf, sizeof(buf)) > 0);
    assert_int_equal(asps_grown_parse(buf, &back), 0);
    assert_memory_equal(&grown, &back, sizeof(grown));
    assert_int_equal(asps_grown_print(&grown, buf, 10), -1);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (asps_grown_parse(bad[i], &back) != -1)
            fail_msg("grown \"%s\"", bad[i]);
}

static void test_cpus(void **state)
{
    static const char *const bad[] = {"",
                                      "user=4",
                                      "user=4 total=",
                                      "user=4 total=5x",
                                      "user=4 total=4",
                                      "user=4 total=-1",
                                      "user=+4 total=5",
                                      "user=4 total= 5",
                                      "x",
                                      "total=5"};
    struct asps_cpus cpus = {4, 5}, back;
    char buf[64];

    (void) state;
    assert_true(asps_cpus_print(&cpus, buf, sizeof(buf)) > 0);
    assert_string_equal(buf, "user=4 total=5");
    assert_int_equal(asps_cpus_parse(buf, &back), 0);
    assert_memory_equal(&cpus, &back, sizeof(cpus));
    assert_int_equal(asps_cpus_print(&cpus, buf, 10), -1);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (asps_cpus_parse(bad[i], &back) != -1 || back.total != 0)
            fail_msg("cpus \"%s\"", bad[i]);
}

/* What Lua calls around one assignment. */
static void test_mute_stderr(void **state)
{
    int aspen_hush(void *);
    int ends[2], kept = dup(STDERR_FILENO);
    char buf[64];

    (void) state;
    assert_int_equal(pipe(ends), 0);
    dup2(ends[1], STDERR_FILENO);
    dprintf(STDERR_FILENO, "one ");
    aspen_hush(NULL);
    dprintf(STDERR_FILENO, "two ");
    aspen_hush(NULL);
    dprintf(STDERR_FILENO, "three");
    dup2(kept, STDERR_FILENO);
    close(kept);
    close(ends[1]);
    memset(buf, 0, sizeof(buf));
    assert_true(read(ends[0], buf, sizeof(buf) - 1) > 0);
    close(ends[0]);
    assert_string_equal(buf, "one three");
}

/* The file that Lua writes. */
static void test_filter(void **state)
{
    static struct asps_filter_answer answer;
    struct asps_filter_request request = {"/bin/aspen", "/etc/p", "ghost:1", "",
                                          "24.11.5"};
    FILE *file;

    (void) state;
    asps_filter_read(&answer);
    assert_false(answer.is_grown);
    asps_filter_publish(&request);
    assert_string_equal(getenv("ASPEN_FILTER_PROGRESS"), "ghost:1");
    assert_string_equal(getenv("ASPEN_FILTER_SLURM"), "24.11.5");
    file = fopen(getenv("ASPEN_FILTER"), "w");
    assert_non_null(file);
    fputs("note\ngrown users=6 ghosts=1 nodes=2 tasks=8 per_node=4\n"
          "cpus user=4 total=5\n"
          "fact --partition=main\nfact nothing\nfact --nodes=2\n"
          "refuse it cannot be\n",
          file);
    fclose(file);
    asps_filter_read(&answer);
    assert_true(answer.is_grown);
    assert_int_equal(answer.grown.users, 6);
    assert_int_equal(answer.cpus.user, 4);
    assert_int_equal(answer.cpus.total, 5);
    assert_string_equal(answer.refusal, "it cannot be");
    assert_int_equal(answer.nfacts, 2);
    assert_string_equal(answer.facts[1], "--nodes=2");
    assert_null(getenv("ASPEN_FILTER"));
    asps_filter_publish(&request);
    file = fopen(getenv("ASPEN_FILTER"), "w");
    for (int i = 0; i < 100; i++)
        fputs("fact --qos=x\n", file);
    fclose(file);
    asps_filter_read(&answer);
    assert_int_equal(answer.nfacts, ASPS_FACTS_MAX);
    asps_filter_publish(&request);
    asps_filter_publish(NULL);
    assert_null(getenv("ASPEN_FILTER_COMMAND"));
    asps_filter_read(&answer);
    assert_false(answer.is_grown);
    assert_string_equal(answer.refusal, "");
}

static void test_settings(void **state)
{
    static char agent[] = "agent=/x/agent", slow[] = "agent_timeout=20",
                wrong[] = "agent_timeout=0", path[] = "agent=x/agent",
                what[] = "colour=blue";
    struct asps_settings settings;
    char why[512];

    (void) state;
    assert_int_equal(asps_settings_read(2, (char *[]){agent, slow}, &settings,
                                        why, sizeof(why)),
                     0);
    assert_string_equal(settings.agent, "/x/agent");
    assert_int_equal(settings.agent_timeout_ms, 20000);
    for (char **bad = (char *[]){wrong, path, what, NULL}; *bad; bad++) {
        assert_int_equal(
            asps_settings_read(1, bad, &settings, why, sizeof(why)), -1);
        assert_non_null(strstr(why, *bad));
        assert_int_equal(settings.agent_timeout_ms, 5000);
        assert_int_equal(settings.agent[0], '/');
    }
}

/* What the plugin writes by itself, the runtime must be able to read. */
static void test_degraded(void **state)
{
    static struct asps_step step = {
        .job = 12, .id = 3, .nnodes = 2, .node = 1, .ntasks = 6, .nlocal = 3};
    struct asp_layout *layout = NULL;
    struct asp_err err = {.text = ""};
    char *text;

    (void) state;
    strcpy(step.spec.mode, "ghost");
    step.spec.ghosts = 1;
    memset(step.reason, '%', sizeof(step.reason) - 1);
    text = asps_degraded_layout(&step);
    assert_non_null(text);
    if (asp_layout_decode(text, strlen(text), &layout, &err) < 0)
        fail_msg("%s: %s", text, err.text);
    assert_true(asp_layout_degraded(layout));
    assert_string_equal(layout->job, "12.3");
    assert_int_equal(layout->node, 1); /* all that tells who shares a node */
    assert_string_equal(layout->reason, step.reason);
    assert_int_equal(layout->ntasks, 3);
    assert_int_equal(layout->tasks[1].role, ASP_ROLE_USER);
    assert_int_equal(layout->tasks[2].role, ASP_ROLE_GHOST);
    asp_layout_destroy(layout);
    free(text);

    strcpy(step.spec.mode, "off");
    step.spec.ghosts = 0;
    step.ranks_world[1] = 4;
    step.ranks_world[2] = 5;
    text = asps_degraded_layout(&step);
    assert_non_null(text);
    if (asp_layout_decode(text, strlen(text), &layout, &err) < 0)
        fail_msg("%s: %s", text, err.text);
    assert_int_equal(layout->mode, ASP_MODE_OFF);
    assert_int_equal(layout->tasks[2].role, ASP_ROLE_USER);
    assert_int_equal(layout->tasks[2].rank_user, 5);
    asp_layout_destroy(layout);
    free(text);
}

/* All that needs no helper reaches the runtime without a plan, and nothing
 * else. */
static void test_degraded_knobs(void **state)
{
    static struct asps_step step = {.nnodes = 1, .ntasks = 1, .nlocal = 1};
    struct asp_layout *layout = NULL;
    struct asp_err err = {.text = ""};
    char *text;

    (void) state;
    strcpy(step.spec.mode, "off");
    strcpy(step.text,
           "off,coll=tune,coll.table=/t,coll.save=/s,coll.budget_ms=7,"
           "coll.effort=all,coll.probe_ms=8,coll.reproducible=on,"
           "coll.force=ring,pack=auto,pack.threads=off,match=auto,"
           "init.timeout_s=9,heap=shared,rma.binding=segment");
    text = asps_degraded_layout(&step);
    assert_non_null(text);
    if (asp_layout_decode(text, strlen(text), &layout, &err) < 0)
        fail_msg("%s: %s", text, err.text);
    assert_int_equal(layout->knobs.coll, ASP_COLL_MODE_TUNE);
    assert_string_equal(layout->knobs.coll_table, "/t");
    assert_string_equal(layout->knobs.coll_save, "/s");
    assert_int_equal(layout->knobs.coll_budget_ms, 7);
    assert_int_equal(layout->knobs.coll_effort, ASP_EFFORT_ALL);
    assert_int_equal(layout->knobs.coll_probe_ms, 8);
    assert_true(layout->knobs.coll_reproducible);
    assert_string_equal(layout->knobs.coll_force, "ring");
    assert_int_equal(layout->knobs.pack, ASP_SWITCH_AUTO);
    assert_int_equal(layout->knobs.pack_threads, ASP_SWITCH_OFF);
    assert_int_equal(layout->knobs.match, ASP_SWITCH_AUTO);
    assert_int_equal(layout->knobs.init_timeout_s, 9);
    assert_int_equal(layout->knobs.heap, ASP_HEAP_PRIVATE);
    assert_int_equal(layout->knobs.rma_binding, ASP_BINDING_RANK);
    asp_layout_destroy(layout);
    free(text);
}

static void clear_environment(void)
{
    unsetenv("ASPEN_PROGRESS");
    unsetenv("ASPEN_POLICY");
    unsetenv("ASPEN_REPORT");
    unsetenv("SLURM_SPANK__SLURM_SPANK_OPTION_aspen_async_progress");
    asps_options_reset();
}

/* Command line, then environment, then what sbatch handed down. */
static void test_options(void **state)
{
    static const char inherited[] =
        "SLURM_SPANK__SLURM_SPANK_OPTION_aspen_async_progress";
    static const char seen[] = "SLURM_SPANK_" ASPS_SEEN_PROGRESS;
    static struct asps_options now;

    (void) state;
    host_reset();
    clear_environment();
    assert_int_equal(asps_options_register(NULL, "/bin/aspen", "/p"), 0);
    assert_int_equal(host.noptions, 3);
    assert_false(asps_options_effective(&now));

    assert_int_equal(host_option("async-progress", NULL, 0), 0);
    assert_true(asps_options_effective(&now));
    assert_string_equal(now.progress, "on");
    assert_int_equal(host_option("async-progress", "ghost:2", 0), 0);
    setenv("ASPEN_PROGRESS", "off", 1);
    assert_true(asps_options_effective(&now));
    assert_string_equal(now.progress, "ghost:2");
    setenv(inherited, "ghost:2", 1); /* so it was not srun's own */
    assert_false(asps_options_effective(&now));
    assert_string_equal(now.progress, "off");
    setenv(seen, "off", 1); /* which sbatch overrode */
    assert_true(asps_options_effective(&now));
    assert_string_equal(now.progress, "ghost:2");
    setenv("ASPEN_PROGRESS", "ghost:1", 1); /* the script's own */
    assert_true(asps_options_effective(&now));
    assert_string_equal(now.progress, "ghost:1");
    unsetenv(seen);

    assert_int_equal(host_option("async-progress", "off", 0), 0);
    setenv(inherited, "off", 1);
    setenv("ASPEN_PROGRESS", "ghost:3", 1);
    assert_false(asps_options_effective(&now)); /* off stays off */

    clear_environment();
    setenv("ASPEN_PROGRESS", "ghost:3", 1);
    assert_true(asps_options_effective(&now));
    assert_string_equal(now.progress, "ghost:3");
    assert_int_equal(host_option("async-progress", "off", 0), 0);
    assert_false(asps_options_effective(&now));
    assert_int_equal(host_option("async-report", "trace", 0), 0);
    assert_true(asps_options_effective(&now));
    assert_string_equal(now.report, "trace");
    assert_int_equal(host_option("async-report", "no", 0), 0);
    assert_false(asps_options_effective(&now));
    assert_int_equal(host_option("async-report", NULL, 0), 0);
    assert_true(asps_options_effective(&now)); /* a run to be measured */

    clear_environment();
}

static void test_other_options(void **state)
{
    static struct asps_options now;
    char *big = malloc(ASP_SPEC_MAX + 2);

    (void) state;
    host_reset();
    clear_environment();
    assert_int_equal(asps_options_register(NULL, "/bin/aspen", "/p"), 0);
    setenv("ASPEN_POLICY", "/job.yaml", 1);
    assert_true(asps_options_effective(&now));
    assert_string_equal(now.policy, "/job.yaml");
    assert_int_equal(host_option("async-report", "(null)", 0), 0);
    assert_true(asps_options_effective(&now));
    assert_string_equal(now.report, "1");

    clear_environment();
    assert_int_equal(host_option("async-report", "", 0), 0);
    assert_true(asps_options_effective(&now)); /* of plain MPI */
    assert_string_equal(now.progress, "off");
    assert_int_equal(host_option("async-report", "no", 0), 0);
    assert_false(asps_options_effective(&now));
    clear_environment();
    setenv("ASPEN_REPORT", "1", 1);
    assert_false(asps_options_effective(&now));
    assert_int_not_equal(host_option("async-policy", "", 0), 0);
    memset(big, 'x', ASP_SPEC_MAX + 1);
    big[ASP_SPEC_MAX + 1] = '\0';
    assert_int_not_equal(host_option("async-progress", big, 0), 0);
    assert_non_null(strstr(host.log, "longer than"));
    assert_int_equal(host_option("async-progress", big, 1), 0); /* remote */
    clear_environment();
    free(big);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_user_ranks),
        cmocka_unit_test(test_ranks_cost),
        cmocka_unit_test(test_grown),
        cmocka_unit_test(test_cpus),
        cmocka_unit_test(test_mute_stderr),
        cmocka_unit_test(test_filter),
        cmocka_unit_test(test_settings),
        cmocka_unit_test(test_degraded),
        cmocka_unit_test(test_degraded_knobs),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_other_options),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
