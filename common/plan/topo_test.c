/* SPDX-License-Identifier: BSD-3-Clause */
/* Topologies of known shape, CPU sets with holes, pretended against real. */
#include "config.h"

#include "topo.h"

#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static struct asp_topo *topo_of(const char *source, const char *cpus)
{
    struct asp_topo *topo = NULL;
    struct asp_cpuset set = {0};
    struct asp_err err = {0};

    if (cpus)
        assert_int_equal(asp_cpuset_parse(cpus, strlen(cpus), &set), 0);
    if (asp_topo_load(source, cpus ? &set : NULL, &topo, &err))
        fail_msg("%s: %s", source ? source : "live", err.text);
    return topo;
}

static void test_two_sockets(void **state)
{
    struct asp_topo *topo = topo_of("pack:2 numa:2 core:4 pu:2", NULL);
    const struct asp_core *core = &topo->cores[13];

    (void) state;
    assert_false(topo->real);
    assert_int_equal(topo->ncores, 16);
    assert_int_equal(topo->nnumas, 4);
    assert_int_equal(topo->npackages, 2);
    assert_int_equal(core->core_log, 13);
    assert_int_equal(core->numa_log, 3);
    assert_int_equal(core->package_log, 1);
    assert_int_equal(core->ncpus, 2);
    assert_int_equal(core->nallowed, 2);
    assert_int_equal(core->cpu_os[0], 26);
    assert_int_equal(core->cpu_os[1], 27);
    assert_int_equal(asp_topo_distance(topo, 0, 0), 0);
    assert_true(asp_topo_distance(topo, 0, 1) < asp_topo_distance(topo, 0, 2));
    asp_topo_destroy(topo);
}

static void test_restricted(void **state)
{
    struct asp_topo *topo = topo_of("numa:2 core:4 pu:2", "1,4-5,14");

    (void) state;
    assert_int_equal(topo->ncores, 8);
    assert_int_equal(topo->cores[0].nallowed, 1);
    assert_false(topo->cores[0].allowed[0]);
    assert_true(topo->cores[0].allowed[1]);
    assert_int_equal(topo->cores[1].nallowed, 0);
    assert_int_equal(topo->cores[2].nallowed, 2);
    assert_int_equal(topo->cores[7].nallowed, 1);
    assert_int_equal(asp_cpuset_count(&topo->allowed), 4);
    asp_topo_destroy(topo);
}

static void test_l3_groups(void **state)
{
    struct asp_topo *topo = topo_of("pack:1 numa:1 l3:4 core:4 pu:1", NULL);

    (void) state;
    assert_int_equal(topo->nnumas, 1);
    assert_int_equal(topo->cores[3].l3_log, 0);
    assert_int_equal(topo->cores[4].l3_log, 1);
    assert_int_equal(topo->cores[15].l3_log, 3);
    asp_topo_destroy(topo);
}

static void test_keep_cores(void **state)
{
    struct asp_topo *topo = topo_of("numa:2 core:4 pu:2", "1,4-5,14");
    struct asp_cpuset cores = {0};
    struct asp_err err = {0};

    (void) state;
    asp_cpuset_add(&cores, 1);
    assert_int_equal(asp_topo_keep_cores(topo, &cores, &err), -1);
    asp_cpuset_add(&cores, 2);
    asp_cpuset_add(&cores, 8);
    assert_int_equal(asp_topo_keep_cores(topo, &cores, &err), -1);
    assert_non_null(strstr(err.text, "core 8 of a machine with 8"));
    assert_int_equal(asp_cpuset_count(&topo->allowed), 4);
    cores = (struct asp_cpuset){0};
    asp_cpuset_add(&cores, 0);
    asp_cpuset_add(&cores, 2);
    assert_int_equal(asp_topo_keep_cores(topo, &cores, &err), 0);
    assert_int_equal(asp_cpuset_count(&topo->allowed), 3);
    assert_int_equal(topo->cores[7].nallowed, 0);
    assert_false(topo->cores[7].allowed[0]);
    assert_int_equal(topo->cores[2].nallowed, 2);
    asp_topo_keep_threads(topo, 2);
    assert_int_equal(asp_cpuset_count(&topo->allowed), 3);
    asp_topo_keep_threads(topo, 1);
    assert_int_equal(asp_cpuset_count(&topo->allowed), 2);
    assert_int_equal(topo->cores[2].nallowed, 1);
    assert_true(topo->cores[2].allowed[0]);
    assert_true(asp_cpuset_has(&topo->allowed, 4));
    assert_int_equal(topo->cores[0].nallowed, 1); /* its second */
    assert_true(topo->cores[0].allowed[1]);
    asp_topo_destroy(topo);
}

static void test_live(void **state)
{
    struct asp_topo *topo;

    (void) state;
    unsetenv("HWLOC_SYNTHETIC");
    unsetenv("HWLOC_XMLFILE");
    topo = topo_of(NULL, NULL);
    assert_true(topo->real);
    assert_true(topo->ncores >= 1);
    assert_true(asp_cpuset_has(&topo->allowed, (unsigned) sched_getcpu()));
    asp_topo_destroy(topo);
}

/* As on the nodes of the embedded cluster. */
static void test_environment(void **state)
{
    struct asp_topo *topo;

    (void) state;
    setenv("HWLOC_SYNTHETIC", "numa:3 core:5 pu:1", 1);
    topo = topo_of(NULL, NULL);
    assert_false(topo->real);
    assert_int_equal(topo->ncores, 15);
    asp_topo_destroy(topo);
    topo = topo_of("core:2 pu:1", NULL); /* what the caller says wins */
    assert_int_equal(topo->ncores, 2);
    asp_topo_destroy(topo);
    unsetenv("HWLOC_SYNTHETIC");
}

static void test_refused(void **state)
{
    static const char *const sources[] = {"banana", "/nonexistent.xml", "",
                                          "core:4 core:4", "core:2000 pu:1"};
    struct asp_topo *topo = NULL;
    struct asp_cpuset cpus = {0};
    struct asp_err err;

    (void) state;
    for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
        memset(&err, 0, sizeof(err));
        assert_int_equal(asp_topo_load(sources[i], NULL, &topo, &err), -1);
        assert_true(errno == EINVAL || errno == E2BIG);
        assert_true(err.text[0]);
        assert_null(topo);
    }
    asp_cpuset_add(&cpus, 9);
    assert_int_equal(asp_topo_load("core:4 pu:1", &cpus, &topo, &err), -1);
    assert_int_equal(errno, ENOENT);
    assert_non_null(strstr(err.text, "CPUs 9"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_sockets), cmocka_unit_test(test_restricted),
        cmocka_unit_test(test_l3_groups),   cmocka_unit_test(test_keep_cores),
        cmocka_unit_test(test_live),        cmocka_unit_test(test_environment),
        cmocka_unit_test(test_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
