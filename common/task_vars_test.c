/* SPDX-License-Identifier: BSD-3-Clause */
/* What a user task finds in its environment, on one that is only an array. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "board.h"
#include "task_vars.h"

enum { VARIABLES_MAX = 48 };

struct fake {
    char *name[VARIABLES_MAX], *value[VARIABLES_MAX];
    size_t n;
};

static size_t find(const struct fake *fake, const char *name)
{
    size_t i = 0;

    while (i < fake->n && strcmp(fake->name[i], name) != 0)
        i++;
    return i;
}

static bool get(void *owner, const char *name, char *buf, size_t size)
{
    const struct fake *fake = owner;
    size_t i = find(fake, name);

    return i < fake->n &&
           (size_t) snprintf(buf, size, "%s", fake->value[i]) < size;
}

static void unset(void *owner, const char *name)
{
    struct fake *fake = owner;
    size_t i = find(fake, name);

    if (i == fake->n)
        return;
    free(fake->name[i]);
    free(fake->value[i]);
    fake->n--;
    fake->name[i] = fake->name[fake->n];
    fake->value[i] = fake->value[fake->n];
}

static void set(void *owner, const char *name, const char *value)
{
    struct fake *fake = owner;

    unset(fake, name);
    assert_true(fake->n < VARIABLES_MAX);
    fake->name[fake->n] = strdup(name);
    fake->value[fake->n++] = strdup(value);
}

static struct asp_environment environment_of(struct fake *fake)
{
    return (struct asp_environment){get, set, unset, fake};
}

static void clear(struct fake *fake)
{
    while (fake->n > 0)
        unset(fake, fake->name[0]);
}

/* NULL: it is not there. */
static void assert_value(const struct fake *fake, const char *name,
                         const char *value)
{
    size_t i = find(fake, name);

    if (value == NULL) {
        assert_int_equal(i, fake->n);
    } else {
        if (i == fake->n)
            fail_msg("no %s", name);
        assert_string_equal(fake->value[i], value);
    }
}

/* Ranks 3, 4 and the ghost 5 on the second of two nodes. */
static const uint32_t ranks[] = {2, 3, UINT32_MAX};
static const struct asp_task_counts counts = {.ghosts = 1,
                                              .ntasks = 6,
                                              .nnodes = 2,
                                              .nlocal = 3,
                                              .local = 1,
                                              .ranks_user = ranks};

/* A variable, what launchers write, what a user is to find. */
static const struct row {
    const char *name, *old, *users, *kept;
    bool slurm;
} rows[] = {
    {"SLURM_NTASKS", "6", "4", "ASPEN_NTASKS", true},
    {"SLURM_NPROCS", "6", "4", "ASPEN_NPROCS", true},
    {"SLURM_STEP_NUM_TASKS", "6", "4", "ASPEN_STEP_NUM_TASKS", true},
    {"SLURM_TASKS_PER_NODE", "3(x2)", "2(x2)", "ASPEN_TASKS_PER_NODE", true},
    {"SLURM_STEP_TASKS_PER_NODE", "3(x2)", "2(x2)", "ASPEN_STEP_TASKS_PER_NODE",
     true},
    {"SLURM_NTASKS_PER_NODE", "3", "2", "ASPEN_NTASKS_PER_NODE", true},
    {"SLURM_PROCID", "4", "3", "ASPEN_PROCID", true},
    {"SLURM_GTIDS", "3,4,5", "2,3", "ASPEN_GTIDS", true},
    {"MPI_LOCALNRANKS", "3", "2", "ASPEN_LOCALNRANKS", false},
};
enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

static void renumbers(void **state)
{
    (void) state;
    for (int slurm = 0; slurm < 2; slurm++) {
        struct fake fake = {.n = 0};
        struct asp_environment env = environment_of(&fake);

        for (size_t i = 0; i < ROWS; i++)
            set(&fake, rows[i].name, rows[i].old);
        set(&fake, "PMI_RANK", "4");
        set(&fake, "PMI_SIZE", "6");
        asp_task_vars_renumber(&env, &counts, slurm);
        for (size_t i = 0; i < ROWS; i++) {
            bool ours = rows[i].slurm == slurm;

            assert_value(&fake, rows[i].name,
                         ours ? rows[i].users : rows[i].old);
            assert_value(&fake, rows[i].kept, ours ? rows[i].old : NULL);
        }
        assert_value(&fake, "PMI_RANK", "4");
        assert_value(&fake, "PMI_SIZE", "6");
        clear(&fake);
    }
}

/* What is not set stays so, and what is no count is left as it is. */
static void leaves_alone(void **state)
{
    static const struct {
        const char *name, *value;
    } bad[] = {
        {"SLURM_TASKS_PER_NODE", "three"}, {"SLURM_TASKS_PER_NODE", "1(x2)"},
        {"SLURM_NTASKS_PER_NODE", "1"},    {"SLURM_NTASKS_PER_NODE", "-3"},
        {"SLURM_NTASKS_PER_NODE", "3x"},
    };
    struct fake fake = {.n = 0};
    struct asp_environment env = environment_of(&fake);
    struct asp_task_counts unknown = counts;

    (void) state;
    asp_task_vars_renumber(&env, &counts, true);
    asp_task_vars_renumber(&env, &counts, false);
    assert_int_equal(fake.n, 0);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        set(&fake, bad[i].name, bad[i].value);
        asp_task_vars_renumber(&env, &counts, true);
        assert_value(&fake, bad[i].name, bad[i].value);
        clear(&fake);
    }
    /* Where nobody knows which ranks users have, counts hold all the same. */
    unknown.ranks_user = NULL;
    for (size_t i = 0; i < ROWS; i++)
        set(&fake, rows[i].name, rows[i].old);
    asp_task_vars_renumber(&env, &unknown, true);
    assert_value(&fake, "SLURM_NTASKS", "4");
    assert_value(&fake, "SLURM_PROCID", "4");
    assert_value(&fake, "SLURM_GTIDS", "3,4,5");
    assert_value(&fake, "ASPEN_GTIDS", NULL);
    clear(&fake);
}

/* A node of as many tasks as there may be, with the longest ranks. */
static void many_ranks(void **state)
{
    static uint32_t all[1024];
    struct fake fake = {.n = 0};
    struct asp_environment env = environment_of(&fake);
    struct asp_task_counts full = {.ghosts = 1,
                                   .ntasks = 1048576,
                                   .nnodes = 1024,
                                   .nlocal = 1024,
                                   .ranks_user = all};
    const char *last;

    (void) state;
    for (uint32_t i = 0; i < 1024; i++)
        all[i] = 1047552 + i;
    set(&fake, "SLURM_GTIDS", "7");
    asp_task_vars_renumber(&env, &full, true);
    assert_value(&fake, "ASPEN_GTIDS", "7");
    last = strrchr(fake.value[find(&fake, "SLURM_GTIDS")], ',');
    assert_string_equal(last, ",1048574");
    clear(&fake);
}

static void gives_cpus(void **state)
{
    static const struct {
        const char *cpus, *tres;
        uint32_t user, total;
        const char *cpus_then, *tres_then;
        bool is;
    } cases[] = {
        {"3", NULL, 2, 3, "2", NULL, true},
        {"3", NULL, 0, 3, NULL, NULL, true},
        {"3", "cpu=3,gres/gpu=1", 2, 3, "2", "cpu=2,gres/gpu=1", true},
        {"3", "cpu:3", 0, 3, NULL, NULL, true},
        {"3", "cpu=4", 2, 3, "2", "cpu=4", true},
        {"4", "cpu=3", 2, 3, "4", "cpu=3", false},
        {"3x", NULL, 2, 3, "3x", NULL, false},
        {NULL, "cpu=3", 2, 3, NULL, "cpu=3", false},
        {"0", NULL, 0, 0, "0", NULL, false},
    };

    (void) state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fake fake = {.n = 0};
        struct asp_environment env = environment_of(&fake);

        if (cases[i].cpus)
            set(&fake, "SLURM_CPUS_PER_TASK", cases[i].cpus);
        if (cases[i].tres)
            set(&fake, "SLURM_TRES_PER_TASK", cases[i].tres);
        assert_int_equal(
            asp_task_vars_cpus(&env, cases[i].user, cases[i].total),
            cases[i].is);
        assert_value(&fake, "SLURM_CPUS_PER_TASK", cases[i].cpus_then);
        assert_value(&fake, "SLURM_TRES_PER_TASK", cases[i].tres_then);
        clear(&fake);
    }
}

static void knows_what_is_ours(void **state)
{
    static const char *const ours[] = {"ASPEN_LAYOUT", "ASPEN_ROLE",
                                       "ASPEN_LOCAL", ASP_BOARD_FD_ENV};
    struct fake fake = {.n = 0};
    struct asp_environment env = environment_of(&fake);

    (void) state;
    for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
        set(&fake, ours[i], "1");
    set(&fake, "ASPEN_NTASKS", "6");
    asp_task_vars_clear(&env);
    assert_int_equal(fake.n, 1);
    clear(&fake);
    assert_true(asp_is_of_loader("LD_PRELOAD=x"));
    assert_true(asp_is_of_loader("GLIBC_TUNABLES=x"));
    assert_true(asp_is_of_loader("MALLOC_ARENA_MAX=1"));
    assert_false(asp_is_of_loader("LD_LIBRARY_PATH=/lib"));
    assert_false(asp_is_of_loader("OMP_NUM_THREADS=2"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(renumbers),          cmocka_unit_test(leaves_alone),
        cmocka_unit_test(many_ranks),         cmocka_unit_test(gives_cpus),
        cmocka_unit_test(knows_what_is_ours),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
