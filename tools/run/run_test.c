/* SPDX-License-Identifier: BSD-3-Clause */
/* Command lines of mpiexec, hosts and assignments, and whose mpiexec it is. */
#include "config.h"

#include "hosts.h"
#include "hydra.h"
#include "launcher.h"
#include "slurm.h"

#include "common/plan/step_ranks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { WORDS_MAX = 64, LINE_MAX_BYTES = 512 };

/* What the file under test asks of others. */
int aspt_child_output(const char *program, const char *const args[],
                      int timeout_ms, char *out, size_t size, int *status_p)
{
    (void) program, (void) args, (void) timeout_ms, (void) out, (void) size;
    (void) status_p;
    return -1;
}

int aspt_settled_ask(const struct aspt_settled *settled,
                     struct asp_facts *facts, struct aspt_answer *out_p,
                     struct asp_err *err)
{
    (void) settled, (void) facts, (void) out_p, (void) err;
    return -1;
}

/* The words of a line, which is changed. */
static char **split(char *line)
{
    static char *words[WORDS_MAX];
    char *save = NULL;
    int n = 0;

    for (char *word = strtok_r(line, " ", &save); word && n < WORDS_MAX - 1;
         word = strtok_r(NULL, " ", &save))
        words[n++] = word;
    words[n] = NULL;
    return words;
}

static void join(char **words, char *out, size_t size)
{
    size_t used = 0;

    out[0] = '\0';
    for (; *words && used < size; words++)
        used += (size_t) snprintf(out + used, size - used, "%s%s",
                                  used ? " " : "", *words);
}

/* ---- mpiexec ----------------------------------------------------------------------- */

/* A line and what it is with two ranks more in each part, started by T; or a
 * part of the message. */
static const struct {
    const char *line, *made, *refused;
} lines[] = {
    {"mpiexec -n 4 ./app", "mpiexec -n 6 T ./app", NULL},
    {"mpiexec -np 4 ./app -n 3", "mpiexec -n 6 T ./app -n 3", NULL},
    {"mpiexec --np=4 ./app", "mpiexec -n 6 T ./app", NULL},
    {"mpiexec -N 4 ./app", "mpiexec -n 6 T ./app", NULL}, /* in any case */
    {"mpiexec ./app", "mpiexec -n 2 T ./app", NULL},
    {"mpiexec -l -n 4 app x", "mpiexec -l -n 6 T app x", NULL},
    {"mpiexec -genv A 1 -genv B=2 -n 4 app",
     "mpiexec -genv A 1 -genv B=2 -n 6 T app", NULL},
    {"mpiexec -env=A=1 -n 4 app", "mpiexec -env=A=1 -n 6 T app", NULL},
    {"mpiexec -genvnone -wdir /tmp -n 1 app",
     "mpiexec -genvnone -wdir /tmp -n 3 T app", NULL},
    {"mpiexec -bind-to core:2 -map-by=numa -n 1 app",
     "mpiexec -bind-to core:2 -map-by=numa -n 3 T app", NULL},
    {"mpiexec -hosts a,b -ppn 2 -launcher ssh -n 4 app",
     "mpiexec -launcher ssh -n 6 T app", NULL}, /* written anew by others */
    {"mpiexec -f hosts -n 1 app", "mpiexec -n 3 T app", NULL},
    {"mpiexec -n 1 a x : -n 2 b y z", "mpiexec -n 3 T a x : -n 4 T b y z",
     NULL},
    {"mpiexec -n 1 -env A 1 a : -wdir=/ b : c",
     "mpiexec -env A 1 -n 3 T a : -wdir=/ -n 2 T b : -n 2 T c", NULL},
    {"mpiexec -n 4 env -n 5 app", "mpiexec -n 6 T env -n 5 app", NULL},
    {"mpiexec -n4 app", NULL, "-n4 is not known"},
    {"mpiexec -frobnicate 3 app", NULL, "-frobnicate is not known"},
    {"mpiexec -n app", NULL, "wants a number, not \"app\""},
    {"mpiexec -n 0 app", NULL, "wants a number"},
    {"mpiexec -n -1 app", NULL, "wants a number"},
    {"mpiexec -n", NULL, "-n lacks a value"},
    {"mpiexec -genv A", NULL, "-genv lacks a value"},
    {"mpiexec -n 4", NULL, "no program"},
    {"mpiexec", NULL, "no program"},
    {"mpiexec -n 1 a :", "mpiexec -n 3 T a", NULL}, /* as hydra has it */
    {"mpiexec : a", NULL, "no program"},
    {"mpiexec -configfile f", NULL, "-configfile changes where"},
    {"mpiexec -rankmap x -n 1 a", NULL, "-rankmap changes where"},
    {"mpiexec -skip-launch-node -n 1 a", NULL, "-skip-launch-node changes"},
    {"mpiexec -ppn x a", NULL, "-ppn wants a number"},
    /* what is written anew could hide that it is said twice */
    {"mpiexec -n 1 -np 2 a", NULL, "-np, or its like, is given twice"},
    {"mpiexec -ppn 1 -ppn 2 a", NULL, "-ppn, or its like, is given twice"},
    {"mpiexec -hosts a -n 1 a : -host b -n 1 b", NULL, "-host, or its like"},
    {"mpiexec -f x -hosts b -n 1 b", NULL, "-hosts, or its like, is given"},
};

static void test_lines(void **state)
{
    char task[] = "T", *before[] = {task, NULL};

    (void) state;
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        char line[LINE_MAX_BYTES], made[LINE_MAX_BYTES];
        struct aspt_hydra hydra;
        struct asp_err err;
        uint32_t ranks[8];
        char **argv;

        snprintf(line, sizeof(line), "%s", lines[i].line);
        if (aspt_hydra_parse(split(line), &hydra, &err) < 0) {
            if (!lines[i].refused || !strstr(err.text, lines[i].refused))
                fail_msg("%s: %s", lines[i].line, err.text);
            aspt_hydra_clear(&hydra);
            continue;
        }
        for (uint32_t p = 0; p < hydra.nparts; p++)
            ranks[p] = hydra.parts[p].count + 2;
        argv = aspt_hydra_make(&hydra, ranks, NULL, before);
        assert_non_null(argv);
        join(argv, made, sizeof(made));
        if (!lines[i].made || strcmp(made, lines[i].made) != 0)
            fail_msg("%s: made %s", lines[i].line, made);
        free(argv);
        aspt_hydra_clear(&hydra);
    }
}

static void test_settings(void **state)
{
    char line[] = "mpiexec -hosts a:2,b -rmk user -ppn 3 -bind-to core "
                  "-gpus-per-proc 1 app";
    struct aspt_hydra hydra;
    struct asp_err err;

    (void) state;
    assert_int_equal(aspt_hydra_parse(split(line), &hydra, &err), 0);
    assert_string_equal(hydra.hosts, "a:2,b");
    assert_string_equal(hydra.rmk, "user");
    assert_int_equal(hydra.ppn, 3);
    assert_string_equal(aspt_hydra_binding(&hydra), "-bind-to was given");
    assert_true(hydra.per_device);
    aspt_hydra_clear(&hydra);
}

/* What mpiexec only tells, whatever stands behind it; and what it does not. */
static void test_informs(void **state)
{
    static const struct {
        const char *line;
        bool informs;
    } rows[] = {
        {"mpiexec --version", true},   {"mpiexec -version", true},
        {"mpiexec -h", true},          {"mpiexec --help", true},
        {"mpiexec -n 2 -info", true},  {"mpiexec -info -nosuch", true},
        {"mpiexec -n 2 a : -h", true}, {"mpiexec a --version", false},
    };

    (void) state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char line[LINE_MAX_BYTES];
        struct aspt_hydra hydra;
        struct asp_err err;

        snprintf(line, sizeof(line), "%s", rows[i].line);
        if (aspt_hydra_parse(split(line), &hydra, &err) < 0)
            fail_msg("%s: %s", rows[i].line, err.text);
        assert_int_equal(hydra.informs, rows[i].informs);
        aspt_hydra_clear(&hydra);
    }
}

static void test_directory(void **state)
{
    char line[] = "mpiexec -n 1 -wdir /a x : -wdir /b y", other[] = "mpiexec "
                                                                    "x : -wdir "
                                                                    "/b y";
    struct aspt_hydra hydra;
    struct asp_err err;

    (void) state;
    assert_int_equal(aspt_hydra_parse(split(line), &hydra, &err), 0);
    assert_string_equal(hydra.dir, "/a");
    aspt_hydra_clear(&hydra);
    assert_int_equal(aspt_hydra_parse(split(other), &hydra, &err), 0);
    assert_null(hydra.dir);
    aspt_hydra_clear(&hydra);
}

/* ---- hosts --------------------------------------------------------------------------- */

/* Hosts, ppn, users and ghosts; then what tasks and hydra are told. */
static const struct {
    const char *hosts;
    uint32_t users, ghosts;
    const char *counts, *distribution, *told;
    bool moved;
} assignments[] = {
    {"a", 4, 1, "5", "block", "a:5", false},
    {"a:2", 4, 1, "5", "block", "a:5", false},
    {"a:2,b:2", 4, 1, "3,3", "block", "a:3,b:3", false},
    {"a:2,b:2", 4, 2, "4,4", "block", "a:4,b:4", false},
    {"a:2,b:2", 3, 1, "3,2", "block", "a:3,b:2", false},
    {"a:4,b:4,c:4", 5, 1, "5,2", "block", "a:5,b:2", false},
    {"a:3,b:1", 4, 1, "4,2", "block", "a:4,b:2", false},
    {"a:1,a:1,b:2", 4, 1, "3,3", "block", "a:3,b:3", false},
    {"a,b", 4, 1, "3,3", "plane=1", "a:1,b:1", false},
    {"a,b", 5, 1, "4,3", "plane=1", "a:1,b:1", false},
    {"a,b", 5, 2, "5,4", "plane=1", "a:1,b:1", false},
    {"a,b,c", 7, 3, "6,5,5", "plane=1", "a:1,b:1,c:1", false},
    {"a:2,b:2", 8, 2, "6,6", "plane=2", "a:2,b:2", false},
    {"a:2,b:2", 8, 1, "5,5", "block", "a:5,b:5", true},
    {"a:2,b:1", 6, 1, "5,3", "block", "a:5,b:3", true},
    {"a,b", 4, 0, "2,2", "plane=1", "a:1,b:1", false},
    /* two proxies on one host are two nodes; side by side they are one */
    {"a,b,a", 8, 1, "4,4,3", "plane=1", "a:1,b:1,a:1", false},
    {"a:2,b,a", 4, 1, "3,2,2", "block", "a:3,b:2,a:2", false},
    {"a,a,b", 3, 1, "3,2", "block", "a:3,b:2", false},
};

static void test_twice(void **state)
{
    static const struct {
        const char *hosts;
        bool twice;
    } rows[] = {{"a", false},
                {"a,b", false},
                {"a,a,b", false},
                {"a,b,a", true},
                {"a:2,b,c,b:3", true}};

    (void) state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct aspt_hosts hosts = {.list = NULL};
        struct asp_err err;

        assert_int_equal(aspt_hosts_add_list(&hosts, rows[i].hosts, &err), 0);
        assert_int_equal(aspt_hosts_twice(&hosts), rows[i].twice);
        aspt_hosts_clear(&hosts);
    }
}

static void test_assignments(void **state)
{
    (void) state;
    for (size_t i = 0; i < sizeof(assignments) / sizeof(assignments[0]); i++) {
        struct aspt_hosts hosts = {.list = NULL};
        struct aspt_assignment assignment;
        struct asp_err err;

        assert_int_equal(
            aspt_hosts_add_list(&hosts, assignments[i].hosts, &err), 0);
        assert_int_equal(aspt_hosts_deal(&hosts, assignments[i].users,
                                         assignments[i].ghosts, &assignment,
                                         &err),
                         0);
        if (strcmp(assignment.counts, assignments[i].counts) != 0 ||
            strcmp(assignment.distribution, assignments[i].distribution) != 0 ||
            strcmp(assignment.hosts, assignments[i].told) != 0 ||
            assignment.moved != assignments[i].moved)
            fail_msg("%s, %u + %u: %s %s %s", assignments[i].hosts,
                     (unsigned) assignments[i].users,
                     (unsigned) assignments[i].ghosts, assignment.counts,
                     assignment.distribution, assignment.hosts);
        aspt_assignment_clear(&assignment);
        aspt_hosts_clear(&hosts);
    }
}

/* As hydra does it: `cores` ranks to each host in turn. Node of each rank. */
static void deal_as_hydra(const struct aspt_hosts *told, uint32_t ranks,
                          uint32_t *node_of)
{
    uint32_t rank = 0;

    while (rank < ranks)
        for (uint32_t n = 0; n < told->n; n++)
            for (uint32_t i = 0; i < told->list[n].cores && rank < ranks; i++)
                node_of[rank++] = n;
}

/* What tasks take for the map is what hydra makes of -hosts; the last ranks of
 * each host are ghosts; and where it is not said otherwise every user is on the
 * host where he would be without. On random hosts. */
static void test_random_assignments(void **state)
{
    uint32_t with[512], without[512];

    (void) state;
    srand(17);
    for (int round = 0; round < 3000; round++) {
        struct aspt_hosts hosts = {.list = NULL}, told = {.list = NULL};
        uint32_t n = 1 + (uint32_t) rand() % 5, ghosts = (uint32_t) rand() % 4;
        uint32_t users = 1 + (uint32_t) rand() % 40, next = 0;
        bool even = rand() % 2;
        struct asp_step_ranks *steps = NULL;
        struct aspt_assignment assignment;
        struct asp_err err;
        bool *marks;

        for (uint32_t i = 0; i < n; i++) {
            char word[32];

            snprintf(word, sizeof(word), "h%u:%d", (unsigned) i,
                     even ? 1 + round % 4 : 1 + rand() % 4);
            assert_int_equal(aspt_hosts_add_list(&hosts, word, &err), 0);
        }
        assert_int_equal(
            aspt_hosts_deal(&hosts, users, ghosts, &assignment, &err), 0);
        assert_int_equal(aspt_hosts_add_list(&told, assignment.hosts, &err), 0);
        assert_int_equal(asp_step_ranks_compute(assignment.counts,
                                                assignment.distribution, 0,
                                                &steps, &err),
                         0);
        assert_int_equal(steps->ntasks, users + ghosts * assignment.nnodes);
        deal_as_hydra(&told, steps->ntasks, with);
        deal_as_hydra(&hosts, users, without);
        for (uint32_t k = 0; k < steps->nnodes; k++)
            for (uint32_t i = 0; i < steps->nodes[k].ntasks; i++)
                assert_int_equal(with[steps->nodes[k].ranks_world[i]], k);
        marks = asp_step_ranks_ghosts(steps, ghosts);
        for (uint32_t r = 0; r < steps->ntasks; r++)
            if (!marks[r] && !assignment.moved)
                assert_int_equal(with[r], without[next++]);
        free(marks);
        asp_step_ranks_destroy(steps);
        aspt_assignment_clear(&assignment);
        aspt_hosts_clear(&hosts);
        aspt_hosts_clear(&told);
    }
}

static void test_split(void **state)
{
    const uint32_t users[] = {2, 3}, three[] = {1, 1, 2};
    struct aspt_hosts hosts = {.list = NULL};
    struct aspt_assignment assignment;
    struct asp_err err;
    uint32_t ranks[3];

    (void) state;
    assert_int_equal(aspt_hosts_add_list(&hosts, "a:3,b:2", &err), 0);
    /* users a: 0 1 2, b: 3 4; ranks 0 1 2 g3 4 5 g6 */
    assert_int_equal(aspt_hosts_deal(&hosts, 5, 1, &assignment, &err), 0);
    assert_int_equal(
        aspt_assignment_split(&assignment, 1, users, 2, ranks, &err), 0);
    assert_int_equal(ranks[0], 2);
    assert_int_equal(ranks[1], 5);
    aspt_assignment_clear(&assignment);
    aspt_hosts_clear(&hosts);
    assert_int_equal(aspt_hosts_add_list(&hosts, "a:1,b:4", &err), 0);
    /* ranks 0 g1 2 3 4 g5 */
    assert_int_equal(aspt_hosts_deal(&hosts, 4, 1, &assignment, &err), 0);
    assert_int_equal(
        aspt_assignment_split(&assignment, 1, three, 3, ranks, &err), 0);
    assert_int_equal(ranks[0], 2);
    assert_int_equal(ranks[1], 1);
    assert_int_equal(ranks[2], 3);
    aspt_assignment_clear(&assignment);
    aspt_hosts_clear(&hosts);
}

static void test_bad_hosts(void **state)
{
    static const char *const bad[] = {"",    ",",    "a,,b", "a:0",
                                      "a:x", "a:1x", ":2",   "a:-1"};
    struct aspt_hosts hosts = {.list = NULL};
    struct asp_err err;

    (void) state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        if (aspt_hosts_add_list(&hosts, bad[i], &err) == 0)
            fail_msg("\"%s\" was taken", bad[i]);
        aspt_hosts_clear(&hosts);
    }
}

/* A host file with this text. Returns what aspt_hosts_add_file() does. */
static int add_file(struct aspt_hosts *hosts, const char *text,
                    struct asp_err *err)
{
    char path[] = "/tmp/aspen-run-test-XXXXXX";
    int fd = mkstemp(path), rc;

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    rc = aspt_hosts_add_file(hosts, path, err);
    unlink(path);
    return rc;
}

static void test_host_files(void **state)
{
    struct aspt_hosts hosts = {.list = NULL};
    struct asp_err err;

    (void) state;
    assert_int_equal(
        add_file(&hosts, "# mine\n\n a:2 # two\nb#one\n  b\n", &err), 0);
    assert_int_equal(hosts.n, 2);
    assert_int_equal(hosts.list[1].cores, 2);
    assert_int_equal(aspt_hosts_cores(&hosts), 4);
    aspt_hosts_clear(&hosts);
    assert_int_equal(add_file(&hosts, "a binding=user:1\n", &err), -1);
    assert_non_null(strstr(err.text, "cannot pass on"));
    aspt_hosts_clear(&hosts);
    assert_int_equal(add_file(&hosts, "#\n", &err), -1);
    assert_int_equal(aspt_hosts_add_file(&hosts, "/nosuch", &err), -1);
    aspt_hosts_clear(&hosts);
}

/* Where hosts come from, by the strongest that is there. */
static void test_sources(void **state)
{
    struct aspt_hydra hydra = {.command = NULL};
    struct aspt_hosts hosts;
    struct asp_err err;

    (void) state;
    setenv("SLURM_NODELIST", "n[1-2]", 1);
    setenv("SLURM_NNODES", "2", 1);
    setenv("SLURM_TASKS_PER_NODE", "4,2", 1);
    assert_int_equal(aspt_hydra_hosts(&hydra, &hosts, &err), 0);
    assert_int_equal(hosts.n, 2);
    assert_string_equal(hosts.list[1].name, "n2");
    assert_int_equal(hosts.list[0].cores, 4);
    aspt_hosts_clear(&hosts);
    setenv("HYDRA_RMK", "user", 1);
    assert_int_equal(aspt_hydra_hosts(&hydra, &hosts, &err), 0);
    assert_int_equal(hosts.n, 1);
    aspt_hosts_clear(&hosts);
    unsetenv("HYDRA_RMK");
    hydra.rmk = "user";
    assert_int_equal(aspt_hydra_hosts(&hydra, &hosts, &err), 0);
    assert_int_equal(hosts.n, 1);
    aspt_hosts_clear(&hosts);
    hydra.hosts = "x,y";
    hydra.ppn = 3;
    assert_int_equal(aspt_hydra_hosts(&hydra, &hosts, &err), 0);
    assert_int_equal(hosts.list[1].cores, 3);
    aspt_hosts_clear(&hosts);
    hydra.hosts = hydra.rmk = NULL;
    unsetenv("SLURM_NODELIST");
    unsetenv("SLURM_NNODES");
    setenv("PBS_NODEFILE", "/x", 1);
    assert_int_equal(aspt_hydra_hosts(&hydra, &hosts, &err), -1);
    assert_non_null(strstr(err.text, "PBS_NODEFILE"));
    unsetenv("PBS_NODEFILE");
    aspt_hosts_clear(&hosts);
}

/* ---- launchers and srun ------------------------------------------------------------------ */

static void test_versions(void **state)
{
    static const struct {
        const char *text, *refused;
    } rows[] = {
        {"HYDRA build details:\n    Version: 4.0.2\n", NULL},
        {"mpiexec (OpenRTE) 4.1.4\n\nReport bugs to", "Open MPI"},
        {"mpiexec (Open MPI) 5.0.7\n", "Open MPI"},
        {"Intel(R) MPI Library for Linux* OS, Version 2021.9\n", "Intel MPI"},
        {"something else\n", "does not say"},
        {"", "does not say"},
    };
    enum aspt_launcher launcher;
    struct asp_err err;

    (void) state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int rc = aspt_launcher_of_version("mpiexec", rows[i].text, &launcher,
                                          &err);

        assert_int_equal(rc, rows[i].refused ? -1 : 0);
        if (rows[i].refused)
            assert_non_null(strstr(err.text, rows[i].refused));
    }
}

static void test_names(void **state)
{
    enum aspt_launcher launcher;
    struct asp_err err;

    (void) state;
    assert_int_equal(aspt_launcher_find("mpirun.openmpi", &launcher, &err), -1);
    assert_int_equal(aspt_launcher_find("sbatch", &launcher, &err), -1);
    assert_non_null(strstr(err.text, "no launcher that aspen run knows"));
    assert_int_equal(aspt_launcher_find("/x/./app", &launcher, &err), -1);
}

/* srun's line, and what is made of it with other counts; or the refusal. */
static const struct {
    const char *line, *made, *refused;
} sruns[] = {
    {"srun -N2 -n6 ./app x", "srun --ntasks=8 --nodes=2 T ./app x", NULL},
    {"srun -N 2 -l -n 6 -p main app",
     "srun --ntasks=8 --nodes=2 -l -p main T app", NULL},
    {"srun --nodes 2 --ntasks 6 --distrib block app",
     "srun --ntasks=8 --nodes=2 --distrib block T app", NULL},
    {"srun --async-progress=ghost:2 -n6 -- app",
     "srun --ntasks=8 --nodes=2 T app", NULL},
    {"srun --mpi pmi2 -lN2 app",
     "srun --ntasks=8 --nodes=2 --mpi pmi2 -l T app", NULL},
    {"srun --container-image=x app",
     "srun --ntasks=8 --nodes=2 --container-image=x T app", NULL},
    {"srun --image x app", NULL, "--image is not known"},
    {"srun --flag -- app", "srun --ntasks=8 --nodes=2 --flag T app", NULL},
    {"srun --flag -n2 app", "srun --ntasks=8 --nodes=2 --flag T app", NULL},
    {"srun -N2", NULL, "no program"},
    {"srun -n1 a : -n1 b", NULL, "heterogeneous steps"},
    {"srun --multi-prog -n2 f", NULL, "--multi-prog names programs in a file"},
    {"srun --bcast=/tmp/a -n2 a", NULL, "--bcast would send"},
    {"srun --container=/x -n2 a", NULL, "--container starts programs where"},
};

static void test_sruns(void **state)
{
    char task[] = "T", *before[] = {task, NULL};
    char ntasks[] = "--ntasks=8", nodes[] = "--nodes=2";
    struct aspt_slurm_change change = {.added = {ntasks, nodes}};

    (void) state;
    for (size_t i = 0; i < sizeof(sruns) / sizeof(sruns[0]); i++) {
        char line[LINE_MAX_BYTES], made[LINE_MAX_BYTES];
        struct aspt_srun srun;
        struct asp_err err;
        char **argv;

        snprintf(line, sizeof(line), "%s", sruns[i].line);
        assert_int_equal(aspt_srun_parse(split(line), &srun), 0);
        if (aspt_slurm_check(&srun, &err) < 0) {
            if (!sruns[i].refused || !strstr(err.text, sruns[i].refused))
                fail_msg("%s: %s", sruns[i].line, err.text);
            aspt_srun_clear(&srun);
            continue;
        }
        argv = aspt_slurm_make(&srun, &change, before);
        assert_non_null(argv);
        join(argv, made, sizeof(made));
        if (!sruns[i].made || strcmp(made, sruns[i].made) != 0)
            fail_msg("%s: made %s", sruns[i].line, made);
        free(argv);
        aspt_srun_clear(&srun);
    }
}

static void test_cpu_bind(void **state)
{
    static const struct {
        const char *line, *kind;
    } rows[] = {
        {"srun app", ""},
        {"srun --cpu-bind=cores app", "cores"},
        {"srun --cpu-bind verbose,map_cpu:0,1 app", "map_cpu:0,1"},
        {"srun --cpu-bind=q app", ""},
        {"srun --cpu_bind=none app", "none"},
    };

    (void) state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char line[LINE_MAX_BYTES];
        struct aspt_srun srun;

        snprintf(line, sizeof(line), "%s", rows[i].line);
        assert_int_equal(aspt_srun_parse(split(line), &srun), 0);
        assert_string_equal(aspt_slurm_cpu_bind(&srun), rows[i].kind);
        aspt_srun_clear(&srun);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_settings),
        cmocka_unit_test(test_informs),
        cmocka_unit_test(test_directory),
        cmocka_unit_test(test_twice),
        cmocka_unit_test(test_assignments),
        cmocka_unit_test(test_random_assignments),
        cmocka_unit_test(test_split),
        cmocka_unit_test(test_bad_hosts),
        cmocka_unit_test(test_host_files),
        cmocka_unit_test(test_sources),
        cmocka_unit_test(test_versions),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_sruns),
        cmocka_unit_test(test_cpu_bind),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
