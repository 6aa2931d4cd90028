/* SPDX-License-Identifier: BSD-3-Clause */
/* slurmstepd's hooks, in a task: which environment and program a user, a ghost,
 * a batch script and a step without Aspen get. */
#include "config.h"

#include "filter.h"
#include "spank_host.h"
#include "stepd.h"
#include "stepd_try.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void test_user_task(void **state)
{
    static char text[OUTPUT_MAX];
    char preload[128];

    (void) state;
    start("good", NULL);
    assert_string_equal(host.log, "");
    assert_int_equal(task(1, text), 0);
    HAS("ASPEN_ROLE=user");
    HAS("ASPEN_LOCAL=1");
    HAS("SLURM_PROCID=3");
    HAS("SLURM_NTASKS=4");
    HAS("SLURM_NPROCS=4");
    HAS("SLURM_STEP_NUM_TASKS=4");
    HAS("SLURM_TASKS_PER_NODE=2(x2)");
    HAS("SLURM_STEP_TASKS_PER_NODE=2(x2)");
    HAS("SLURM_NTASKS_PER_NODE=2");
    HAS("SLURM_GTIDS=2,3");
    HAS("SLURM_LOCALID=1");
    HAS("ASPEN_PROCID=4");
    HAS("ASPEN_NTASKS=6");
    HAS("ASPEN_GTIDS=3,4,5");
    HAS("ASPEN_STEP_TASKS_PER_NODE=3(x2)");
    HAS("PMI_RANK=4");
    HAS("PMI_SIZE=6");
    HAS("SECRET=x");
    HAS("fd 0"); /* the board survives exec */
    snprintf(preload, sizeof(preload), "LD_PRELOAD=%s/runtime:/opt/user.so",
             dir);
    HAS(preload);
    assert_null(strstr(text, ASPS_REQUEST_ENV));
    asps_stepd_exit();
}

/* The library in front of malloc comes behind ours, before the user's. */
static void test_heap_task(void **state)
{
    static char text[OUTPUT_MAX];
    char preload[512];

    (void) state;
    host_setenv("ASPEN_HEAP", "shared"); /* nobody asks the job's environment */
    start("good", NULL);
    task(0, text);
    snprintf(preload, sizeof(preload), "LD_PRELOAD=%s/runtime:/opt/user.so",
             dir);
    HAS(preload);
    asps_stepd_exit();
    setup(NULL);
    start("heap", NULL);
    task(0, text);
    snprintf(preload, sizeof(preload),
             "LD_PRELOAD=%s/runtime:%s/libaspenheap.so:/opt/user.so", dir, dir);
    HAS(preload);
    asps_stepd_exit();
}

static void test_ghost_task(void **state)
{
    static char text[OUTPUT_MAX];

    (void) state;
    host_setenv("LD_AUDIT", "/opt/audit.so");
    host_setenv("LD_LIBRARY_PATH", "/opt/lib");
    host_setenv("MALLOC_CHECK_", "3");
    start("good", NULL);
    assert_int_equal(task(2, text), 42); /* the script's own status */
    HAS("I am a ghost, 0 arguments");
    assert_null(strstr(text, "never seen"));
    HAS("ASPEN_ROLE=ghost");
    HAS("ASPEN_LOCAL=2");
    HAS("SLURM_NTASKS=6");
    HAS("PMI_RANK=4");
    HAS("SECRET=x");
    HAS("LD_LIBRARY_PATH=/opt/lib");
    assert_null(strstr(text, "LD_PRELOAD"));
    assert_null(strstr(text, "LD_AUDIT"));
    assert_null(strstr(text, "MALLOC_"));
    asps_stepd_exit();
}

/* No request, off, nonsense, batch steps: tasks are as they were. */
static void test_inactive(void **state)
{
    static char before[OUTPUT_MAX], text[OUTPUT_MAX];

    (void) state;
    spank_unsetenv(NULL, ASPS_REQUEST_ENV);
    start("good", NULL);
    task(0, before);
    assert_null(strstr(before, "ASPEN_"));
    asps_stepd_exit();
    for (const char *const *request =
             (const char *const[]){"off", "nonsense", "ghost:1\n", NULL};
         *request; request++) {
        setup(NULL);
        start("good", *request);
        task(0, text);
        assert_null(strstr(text, "ASPEN_ROLE"));
        HAS("SLURM_NTASKS=6");
        asps_stepd_exit();
    }
    setup(NULL);
    host.step = 0xfffffffbU; /* batch */
    start("good", "ghost:1");
    task(0, text);
    assert_null(strstr(text, "ASPEN_ROLE"));
    asps_stepd_exit();
}

/* What the user preloads stays, however long it is. */
static void test_long_preload(void **state)
{
    enum { LONG = 100000, TOO_LONG = 131072 };
    static char value[TOO_LONG + 1], text[OUTPUT_MAX];
    char preload[128];

    (void) state;
    memset(value, 'x', LONG);
    host_setenv("LD_PRELOAD", value);
    start("good", NULL);
    assert_int_equal(task(0, text), 0);
    snprintf(preload, sizeof(preload), "LD_PRELOAD=%s/runtime:xxx", dir);
    assert_non_null(strstr(text, preload));
    assert_int_equal(strspn(strstr(text, ":xxx") + 1, "x"), LONG);
    asps_stepd_exit();
    memset(value, 'x', TOO_LONG);
    for (int i = 0; i < 2; i++) {
        setup(NULL);
        host_setenv("LD_PRELOAD", value);
        start("good", i == 0 ? "ghost:1" : "offload");
        assert_int_equal(task(0, text), i == 0 ? EXIT_FAILURE : 0);
        assert_null(strstr(text, "ASPEN_ROLE"));
        asps_stepd_exit();
    }
}

static void test_batch_counts(void **state)
{
    static char text[OUTPUT_MAX];

    (void) state;
    host.step = 0xfffffffbU;
    host_setenv(ASPS_GROWN_ENV, "users=4 ghosts=1 nodes=2 tasks=6 per_node=3");
    start("good", NULL);
    task(0, text);
    HAS("SLURM_NTASKS=4");
    HAS("SLURM_NPROCS=4");
    HAS("SLURM_NTASKS_PER_NODE=2");
    HAS("SLURM_TASKS_PER_NODE=2(x2)");
    assert_null(strstr(text, ASPS_GROWN_ENV));
    asps_stepd_exit();
}

/* -c as the user gave it, in a script and a task; none where he gave none. */
static void test_cpus(void **state)
{
    static char text[OUTPUT_MAX];

    (void) state;
    host.step = 0xfffffffbU;
    host_setenv(ASPS_HAD_CPUS_ENV, "user=4 total=5");
    host_setenv("SLURM_CPUS_PER_TASK", "5");
    host_setenv("SLURM_TRES_PER_TASK", "cpu=5,gres/gpu=1");
    start("good", NULL);
    assert_int_equal(task(0, text), 0);
    HAS("SLURM_CPUS_PER_TASK=4");
    HAS("SLURM_TRES_PER_TASK=cpu=4,gres/gpu=1");
    HAS("SLURM_NTASKS=6"); /* nothing was added to these */
    asps_stepd_exit();
    setup(NULL);
    host.step = 0xfffffffbU;
    host_setenv(ASPS_HAD_CPUS_ENV, "user=0 total=2");
    host_setenv("SLURM_CPUS_PER_TASK", "2");
    host_setenv("SLURM_TRES_PER_TASK", "cpu=2");
    start("good", NULL);
    assert_int_equal(task(0, text), 0);
    assert_null(strstr(text, "SLURM_CPUS_PER_TASK"));
    assert_null(strstr(text, "SLURM_TRES_PER_TASK"));
    asps_stepd_exit();
    setup(NULL);
    host_setenv(ASPS_CPUS_ENV, "user=4 total=5");
    host_setenv("SLURM_CPUS_PER_TASK", "5");
    start("good", NULL);
    assert_int_equal(task(0, text), 0);
    HAS("SLURM_CPUS_PER_TASK=4");
    HAS("ASPEN_CPUS_PER_TASK=5");
    assert_null(strstr(text, ASPS_CPUS_ENV));
    asps_stepd_exit();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_user_task, setup),
        cmocka_unit_test_setup(test_heap_task, setup),
        cmocka_unit_test_setup(test_ghost_task, setup),
        cmocka_unit_test_setup(test_inactive, setup),
        cmocka_unit_test_setup(test_long_preload, setup),
        cmocka_unit_test_setup(test_batch_counts, setup),
        cmocka_unit_test_setup(test_cpus, setup),
    };

    alarm(60);
    return cmocka_run_group_tests(tests, setup_group, teardown_group);
}
