/* SPDX-License-Identifier: BSD-3-Clause */
/* Placement on known machines: every line of tests/topo/plan-cases.txt against
 * tests/expected/plan-NAME.txt. ASPEN_GOLDEN_UPDATE=1 writes these anew. */
#include "plan.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { FIELDS = 7, TEXT_MAX = 64 * 1024, CASES_MIN = 12 };

/* "a|b|c" in place; returns the number of fields. */
static int split(char *line, char *fields[FIELDS])
{
    int n = 0;

    for (char *at = line; at && n < FIELDS;) {
        fields[n++] = strsep(&at, "|");
    }
    return n;
}

static void load_topo(const char *source, const char *list,
                      struct asp_topo **topo_p)
{
    struct asp_cpuset cpus = {0};
    struct asp_err err = {0};
    char path[512];

    if (strstr(source, ".xml")) {
        snprintf(path, sizeof(path), "%s/topo/%s", TESTS_DIR, source);
        source = path;
    }
    if (strcmp(list, "-"))
        assert_int_equal(asp_cpuset_parse(list, strlen(list), &cpus), 0);
    if (asp_topo_load(source, strcmp(list, "-") ? &cpus : NULL, topo_p, &err))
        fail_msg("%s: %s", source, err.text);
}

static int print_task(const struct asp_layout_task *task, char *buf,
                      size_t size)
{
    char cpus[2048];
    int n;

    asp_cpuset_print(&task->cpus, cpus, sizeof(cpus));
    n = snprintf(buf, size, "rank %" PRIu32 " %s numa %d cpus %s",
                 task->rank_world, asp_role_name(task->role), task->numa,
                 cpus[0] ? cpus : "-");
    if (task->cpu_helper_os >= 0)
        n += snprintf(buf + n, size - (size_t) n, " helper %d",
                      task->cpu_helper_os);
    if (task->ghost != ASP_RANK_NONE)
        n += snprintf(buf + n, size - (size_t) n, " ghost %" PRIu32,
                      task->ghost);
    return n + snprintf(buf + n, size - (size_t) n, "\n");
}

static void print_layout(const struct asp_layout *layout, char *buf)
{
    char cpus[2048];
    int n = snprintf(buf, TEXT_MAX, "bound %s: %s\n",
                     layout->bound ? "yes" : "no", layout->reason);

    asp_cpuset_print(&layout->service, cpus, sizeof(cpus));
    if (cpus[0])
        n += snprintf(buf + n, TEXT_MAX - (size_t) n, "service %s\n", cpus);
    for (uint32_t t = 0; t < layout->ntasks; t++)
        n += print_task(&layout->tasks[t], buf + n, TEXT_MAX - (size_t) n);
}

static void run_case(char *fields[FIELDS], char *buf)
{
    struct asp_plan_request request = {.nnodes = 1};
    struct asp_layout_node node = {.name = "n1"};
    struct asp_layout *layout = NULL;
    struct asp_topo *topo = NULL;
    struct asp_err err = {0};
    uint32_t ranks[ASP_TASKS_MAX];
    uint32_t helpers = (uint32_t) strtoul(fields[5], NULL, 10);

    for (uint32_t i = 0; i < ASP_TASKS_MAX; i++)
        ranks[i] = i;
    load_topo(fields[1], fields[2], &topo);
    assert_int_equal(asp_mode_parse(fields[3], &request.mode), 0);
    if (request.mode == ASP_MODE_GHOST)
        request.ghosts_per_node = helpers;
    else
        request.service_cores = helpers;
    request.share = strstr(fields[6], "share") != NULL;
    request.use_threads = strstr(fields[6], "smt") != NULL;
    request.spread = strstr(fields[6], "pack") ? ASP_SPREAD_PACK
                                               : ASP_SPREAD_NUMA;
    node.ntasks = (uint32_t) strtoul(fields[4], NULL, 10) +
                  request.ghosts_per_node;
    node.ranks_world = ranks;
    request.nodes = &node;
    request.may_bind = true;
    if (asp_plan(topo, &request, &layout, &err))
        fail_msg("%s: %s", fields[0], err.text);
    print_layout(layout, buf);
    if (request.mode == ASP_MODE_OFFLOAD) {
        char says[128];
        size_t used = strlen(buf);

        asp_plan_describe_cpus(topo, layout, says, sizeof(says));
        snprintf(buf + used, TEXT_MAX - used, "says %s\n", says);
    }
    asp_layout_destroy(layout);
    asp_topo_destroy(topo);
}

static void write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

/* Returns 0 when the text is what the file says. */
static int compare(const char *name, const char *text)
{
    static char want[TEXT_MAX];
    char path[512], out[256];
    FILE *f;
    size_t n;

    snprintf(path, sizeof(path), "%s/expected/plan-%s.txt", TESTS_DIR, name);
    if (getenv("ASPEN_GOLDEN_UPDATE"))
        write_text(path, text);
    f = fopen(path, "r");
    n = f ? fread(want, 1, sizeof(want) - 1, f) : 0;
    want[n] = '\0';
    if (f)
        fclose(f);
    if (f && !strcmp(want, text))
        return 0;
    snprintf(out, sizeof(out), "plan-%s.out", name);
    write_text(out, text);
    print_error("differ: %s and %s\n", path, out);
    return 1;
}

static void test_goldens(void **state)
{
    static char buf[TEXT_MAX];
    char line[512], *fields[FIELDS];
    FILE *f = fopen(TESTS_DIR "/topo/plan-cases.txt", "r");
    int cases = 0, bad = 0;

    (void) state;
    assert_non_null(f);
    while (fgets(line, sizeof(line), f)) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '#' || !line[0])
            continue;
        assert_int_equal(split(line, fields), FIELDS);
        run_case(fields, buf);
        bad += compare(fields[0], buf);
        cases++;
    }
    fclose(f);
    assert_true(cases >= CASES_MIN);
    assert_int_equal(bad, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_goldens)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
