/* SPDX-License-Identifier: BSD-3-Clause */
/* What cli_filter says and hears: asp_expand_words(). */
#include "expand.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#define WORDS(...)                                                             \
    (const char *const[])                                                      \
    {                                                                          \
        __VA_ARGS__                                                            \
    }
#define COUNT(...)                                                             \
    ((int) (sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *)))
#define ASK(...)                                                               \
    asp_expand_words(COUNT(__VA_ARGS__), WORDS(__VA_ARGS__), buf, sizeof(buf), \
                     &err)

static void test_words(void **state)
{
    struct asp_err err = {.text = ""};
    char buf[512], tiny[24];

    (void) state;
    assert_int_equal(ASK("spec=ghost:1,x=y", "ntasks=6", "nodes=2",
                         "ntasks-per-node=3", "cpus-per-task=1",
                         "distribution=block,NoPack", "overcommit=unset"),
                     0);
    assert_string_equal(buf, "set ntasks 8\nset nodes 2\n"
                             "set ntasks-per-node 4\nset mincpus 4\n"
                             "grown users=6 ghosts=1 nodes=2 tasks=8 "
                             "per_node=4\n");
    assert_int_equal(ASK("spec=ghost", "ntasks=4", "nodes=2",
                         "distribution=plane=2", "overcommit=set"),
                     0);
    assert_non_null(strstr(buf, "set distribution plane=3\n"));
    assert_non_null(strstr(buf, " plane=2\n")); /* the user's */
    assert_null(strstr(buf, "mincpus"));
    assert_int_equal(
        ASK("spec=ghost:1", "ntasks=8", "nodes=2", "alloc-cpus=4(x2)"), 0);
    assert_int_equal(strncmp(buf, "refuse node 1 of", 16), 0);
    assert_int_equal(ASK("spec=thread", "ntasks=8", "nodes=2"), 0);
    assert_string_equal(buf, "");
    assert_int_equal(ASK("spec=ghost:1", "nodes=2", "extra-node-info=1:4"), 0);
    assert_int_equal(strncmp(buf, "refuse ", 7), 0);
    assert_int_equal(
        ASK("spec=ghost:1", "ntasks=4", "nodes=2", "extra-node-info=1:4"), 0);
    assert_int_equal(strncmp(buf, "set ", 4), 0);
    assert_int_equal(ASK("spec=ghost:1", "nodelist=n[1-2]", "nodes=1-0"), 0);
    assert_non_null(strstr(buf, "set nodes 2\n"));
    assert_int_equal(
        asp_expand_words(1, WORDS("spec=ghost:1"), tiny, sizeof(tiny), &err),
        -1);
    assert_int_equal(errno, ENOSPC);
}

static void test_offload_words(void **state)
{
    struct asp_err err = {.text = ""};
    char buf[512], tiny[24];

    (void) state;
    assert_int_equal(ASK("spec=offload", "type=srun", "nodes=2"), 0);
    assert_int_equal(ASK("spec=off,offload=yes", "type=srun", "nodes=2"), 0);
    assert_string_equal(buf, "");
    assert_int_equal(ASK("spec=offload", "type=srun", "nodes=2"), 0);
    assert_string_equal(buf, "set cpus-per-task 2\nset ntasks 2\nset nodes 2\n"
                             "cpus user=0 total=2\n");
    assert_int_equal(ASK("type=sbatch", "cpus-per-task=3", "node-threads=2",
                         "spec=offload,require=yes,placement.smt=use"),
                     0);
    assert_string_equal(buf, "set cpus-per-task 4\ncpus user=3 total=4\n");
    for (const char *const *one =
             (const char *const[]){"hint=nomultithread", "threads-per-core=1",
                                   "extra-node-info=1:4:1", NULL};
         *one; one++) {
        assert_int_equal(
            ASK("spec=offload", "cpus-per-task=3", "node-threads=2", *one), 0);
        assert_string_equal(buf, "set cpus-per-task 4\ncpus user=3 total=4\n");
    }
    assert_int_equal(ASK("spec=offload", "cpus-per-task=3", "node-threads=2",
                         "hint=multithread", "threads-per-core=unset",
                         "extra-node-info=1:4", "exact=unset"),
                     0);
    assert_string_equal(buf, "set cpus-per-task 6\ncpus user=3 total=6\n");
    assert_int_equal(ASK("spec=offload", "type=srun", "ntasks=2",
                         "cpus-per-task=5", "had-cpus=4+5", "alloc-cpus=8(x2)"),
                     0);
    assert_string_equal(buf, "cpus user=4 total=5\n");
    assert_int_equal(ASK("spec=offload", "exclusive=exclusive", "ntasks=4",
                         "type=salloc", "node-cpus=4", "part-cpus=4(x2)"),
                     0);
    assert_string_equal(buf, "set nodes 2\n");
    assert_int_equal(ASK("spec=offload", "exclusive=exclusive", "ntasks=4",
                         "type=srun", "whole-nodes=yes"),
                     0);
    assert_string_equal(buf, "set cpus-per-task 2\ncpus user=0 total=2\n");
    assert_int_equal(
        asp_expand_words(1, WORDS("spec=offload"), tiny, sizeof(tiny), &err),
        -1);
    assert_int_equal(errno, ENOSPC);
}

/* Mode thread: cores more on each node, by the words of the filter. */
static void test_thread_words(void **state)
{
#define NODES "node-cpus=4", "max-cpus=4", "part-cpus=4(x2)"
    struct asp_err err = {.text = ""};
    char buf[512], tiny[8];

    (void) state;
    assert_int_equal(
        ASK("spec=thread", "type=srun", "nodes=1", "ntasks=2", NODES), 0);
    assert_string_equal(buf, "set mincpus 3\n");
    assert_int_equal(ASK("spec=thread,thread.service_cores=2", "type=srun",
                         "nodes=2", NODES),
                     0);
    assert_string_equal(buf, "set mincpus 3\n");
    assert_int_equal(
        ASK("spec=thread", "type=sbatch", "ntasks=5", "cpus-per-task=1", NODES),
        0);
    assert_string_equal(buf, "set mincpus 4\nset nodes 2\n");
    assert_int_equal(ASK("spec=thread", "type=srun", "ntasks=2", "max-cpus=16",
                         "node-cpus=16", "node-threads=2"),
                     0);
    assert_string_equal(buf, "set mincpus 6\nset nodes 1\n");
    assert_int_equal(ASK("spec=thread,placement.smt=use", "type=srun",
                         "ntasks=2", "max-cpus=16", "node-cpus=16",
                         "node-threads=2"),
                     0);
    assert_string_equal(buf, "set mincpus 3\nset nodes 1\n");
    assert_int_equal(ASK("spec=thread", "type=srun", "ntasks=2", "mincpus=4",
                         "nodes=1", NODES),
                     0);
    assert_string_equal(buf, "");
    assert_int_equal(
        asp_expand_words(3, WORDS("spec=thread", "type=srun", "max-cpus=4"),
                         tiny, sizeof(tiny), &err),
        -1);
    assert_int_equal(errno, ENOSPC);
    assert_int_equal(ASK("spec=thread,thread.service_cores=x", NODES), -1);
}

/* What has no place for them, or would be changed otherwise, is left alone. */
static void test_thread_left_alone(void **state)
{
    static const char *const left[][3] = {
        {"type=srun", "ntasks=8", "nodes=2"},
        {"type=srun", "ntasks=7"},
        {"type=srun", "cpus-per-task=1"},
        {"type=srun", "exact=set"},
        {"type=srun", "exclusive=exclusive"},
        {"type=sbatch", "nodes=1"},
        {"type=srun", "alloc-cpus=4"},
        {"type=srun", "overcommit=set"},
        {"type=srun", "distribution=arbitrary"},
        {"type=srun", "nodes=3"},
        {"type=srun", "multi-prog=set"},
        {"type=srun", "node-threads=2", "threads-per-core=1"},
    };
    struct asp_err err = {.text = ""};
    char buf[512];

    (void) state;
    for (size_t i = 0; i < sizeof(left) / sizeof(left[0]); i++) {
        const char *second = left[i][1], *third = left[i][2];

        assert_int_equal(ASK("spec=thread", NODES, left[i][0], second,
                             third ? third : second),
                         0);
        if (buf[0] != '\0')
            fail_msg("%s %s: %s", second, third ? third : "", buf);
    }
    assert_int_equal(ASK("spec=thread", "type=srun"), 0); /* nodes unknown */
    assert_string_equal(buf, "");
}

/* The same request, and what each release of Slurm is asked for. */
static void test_releases(void **state)
{
#define SHARED "spec=thread", "type=srun", NODES
#define WHOLE  "type=srun", "whole-nodes=yes", "overcommit=set", NODES
    enum { RELEASES = 5 };
    static const char *const releases[RELEASES] = {
        "slurm=22.05.8", "slurm=23.11.1", "slurm=24.11.0", "slurm=24.11.1",
        "slurm=24.11.5"};
    static const struct {
        const char *words[9];
        const char *until; /* 24.11.0; "..." : it begins so */
        const char *since; /* 24.11.1 */
    } rows[] = {
        /* --mincpus adds CPUs, or larger tasks do. */
        {{SHARED, "nodes=1", "ntasks=2"},
         "set mincpus 3\n",
         "set cpus-per-task 2\ncpus user=0 total=2\n"},
        {{SHARED, "ntasks=2"},
         "set mincpus 3\nset nodes 1\n",
         "set cpus-per-task 2\nset nodes 1\ncpus user=0 total=2\n"},
        {{SHARED, "nodes=2", "ntasks=3"},
         "set mincpus 3\n",
         "set cpus-per-task 2\ncpus user=0 total=2\n"},
        /* No number of tasks, or whole nodes: it does in all releases. */
        {{SHARED}, "set mincpus 2\n", "set mincpus 2\n"},
        {{SHARED, "whole-nodes=yes", "ntasks=2", "nodes=1"},
         "set mincpus 3\n",
         "set mincpus 3\n"},
        /* Tasks would take more than twice what is wanted. */
        {{SHARED, "nodes=1", "ntasks=3"}, "set mincpus 4\n", ""},
        {{"spec=thread", "type=sbatch", "ntasks=2", "cpus-per-task=1", NODES},
         "set mincpus 3\nset nodes 1\n",
         ""},
        /* More tasks than CPUs, on whole nodes and on shared ones. */
        {{"spec=ghost:1", WHOLE, "ntasks=6", "nodes=2"},
         "set ntasks 8...",
         "set ntasks 8..."},
        {{"spec=ghost:1", WHOLE, "ntasks=8", "nodes=2"},
         "set ntasks 10...",
         "refuse 8 user task(s) and 2 ghost(s) are more than the CPUs of 2..."},
        {{"spec=ghost:1", "type=sbatch", "exclusive=exclusive", "ntasks=8",
          "nodes=2", "overcommit=set", "max-cpus=4"},
         "set ntasks 10...",
         "refuse 8 user task(s)..."},
        {{"spec=ghost:1", "type=srun", "exclusive=allocation", "ntasks=8",
          "nodes=2", "overcommit=set", "max-cpus=4"},
         "set ntasks 10...",
         "refuse 8 user task(s)..."},
        {{"spec=ghost:1", "type=srun", "overcommit=set", NODES, "ntasks=8",
          "nodes=2"},
         "set ntasks 10...",
         "set ntasks 10..."},
        {{"spec=ghost:1", "type=srun", "overcommit=set", "alloc-cpus=4(x2)",
          "ntasks=8", "nodes=2"},
         "set ntasks 10...",
         "set ntasks 10..."},
    };
    struct asp_err err = {.text = ""};
    char buf[1024];

    (void) state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        for (int r = 0; r < RELEASES; r++) {
            const char *words[10],
                *want = r < 3 ? rows[i].until : rows[i].since;
            const char *dots = strstr(want, "...");
            int n = 0;

            for (; n < 9 && rows[i].words[n] != NULL; n++)
                words[n] = rows[i].words[n];
            words[n++] = releases[r];
            assert_int_equal(asp_expand_words(n, words, buf, sizeof(buf), &err),
                             0);
            if (dots ? strncmp(buf, want, (size_t) (dots - want)) != 0
                     : strcmp(buf, want) != 0)
                fail_msg("row %zu, %s: %s", i, releases[r], buf);
        }
}

/* --tres-per-task: CPUs are -c; the environment only repeats -c. */
static void test_tres_words(void **state)
{
    struct asp_err err = {.text = ""};
    char buf[512];

    (void) state;
    assert_int_equal(ASK("spec=ghost:1", "ntasks=2", "nodes=2", "max-cpus=4",
                         "tres-per-task=cpu=2"),
                     0);
    assert_non_null(strstr(buf, "set mincpus 4\n"));
    assert_int_equal(ASK("spec=ghost:1", "ntasks=2", "nodes=2",
                         "tres-per-task=cpu=2,gres/gpu=1"),
                     0);
    assert_int_equal(strncmp(buf, "refuse --gpus-per-task", 22), 0);
    assert_int_equal(
        ASK("spec=offload", "type=srun", "ntasks=2", "tres-per-task=cpu:3"), 0);
    assert_string_equal(buf, ""); /* the two cannot stand together */
    assert_int_equal(ASK("spec=offload", "type=srun", "ntasks=2",
                         "cpus-per-task=3", "tres-per-task=cpu=3",
                         "tres-env=yes", "alloc-cpus=4(x2)"),
                     0);
    assert_string_equal(buf, "set cpus-per-task 4\nset tres-per-task cpu=4\n"
                             "cpus user=3 total=4\n");
}

/* Options as the user gave them: those that do not count are not read, but
 * those that do are. */
static void test_options(void **state)
{
    struct asp_err err = {.text = ""};
    char buf[512];

    (void) state;
    assert_int_equal(ASK("spec=ghost:1", "--ntasks=6", "--nodes=2",
                         "--export=ALL,nodes=3",
                         "--job-name=", "--verbose=set"),
                     0);
    assert_int_equal(strncmp(buf, "set ntasks 8\n", 13), 0);
    assert_int_equal(ASK("spec=ghost:1", "--ntasks=x"), -1);
    assert_int_equal(ASK("spec=ghost:1", "job-name=x"), -1);
}

static void test_bad_words(void **state)
{
    static const char *const bad[] = {"",
                                      "x",
                                      "x=1",
                                      "ntasks=",
                                      "ntasks=-1",
                                      "ntasks=2x",
                                      "ntasks=99999999999",
                                      "nodes=x",
                                      "nodes=1-x",
                                      "nodes=1-2-3",
                                      "distribution=plane",
                                      "distribution=plane=x",
                                      "alloc-cpus=x",
                                      "spec=ghost:x",
                                      "spec=ghost:123456789",
                                      "spec=ghostx",
                                      "part-cpus=4,",
                                      "had-cpus=4",
                                      "had-cpus=4+x",
                                      "node-threads=x",
                                      "threads-per-core=2x",
                                      "slurm=24.11",
                                      "nodelist=n["};
    char buf[512];

    (void) state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct asp_err err = {.text = ""};
        char word[64];

        snprintf(word, sizeof(word), "%s", bad[i]);
        errno = 0;
        assert_int_equal(ASK(word), -1);
        assert_int_equal(errno, EINVAL);
        assert_non_null(strstr(err.text, "not understood"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_offload_words),
        cmocka_unit_test(test_thread_words),
        cmocka_unit_test(test_thread_left_alone),
        cmocka_unit_test(test_releases),
        cmocka_unit_test(test_tres_words),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_bad_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
