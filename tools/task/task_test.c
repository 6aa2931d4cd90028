/* SPDX-License-Identifier: BSD-3-Clause */
/* Which task this is, by what launchers say; words handed down; and the meeting
 * of a node's tasks, with real processes. */
#include "config.h"

#include "arguments.h"
#include "cpus.h"
#include "meet.h"
#include "names.h"
#include "place.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- words ----------------------------------------------------------------------- */

static void test_words(void **state)
{
    char program[] = "app", *argv[32], **words;
    struct aspt_task_arguments told, read;
    struct asp_err err;
    size_t n = 0;

    (void) state;
    aspt_task_arguments_init(&told);
    told.launcher = "srun";
    told.spec = "ghost:1,adapt=auto";
    told.report = "a=b.json";
    words = aspt_task_arguments_write(&told);
    assert_non_null(words);
    for (; words[n]; n++)
        argv[n] = words[n];
    assert_int_equal(n, 4);
    argv[n] = program;
    argv[n + 1] = NULL;
    assert_int_equal(aspt_task_arguments_read(argv, &read, &err), 0);
    assert_string_equal(read.spec, told.spec);
    assert_string_equal(read.report, told.report);
    assert_string_equal(read.unbound, "");
    assert_ptr_equal(read.program[0], program);
    argv[n] = NULL;
    assert_int_equal(aspt_task_arguments_read(argv, &read, &err), -1);
    for (n = 0; words[n]; n++)
        free(words[n]);
    free(words);
}

/* ---- places ------------------------------------------------------------------------ */

/* Slurm's variables of a task: rank, local id, node, nodes, tasks, counts, ids
 * of the node; then what is found. */
static const struct {
    const char *value[7], *distribution;
    int rc;
    uint32_t nlocal;
    int user; /* with a ghost on each node; -1: it is one; -2: not known */
} tasks[] = {
    /* no distribution gives these: roles are known, others' ranks are not */
    {{"4", "1", "1", "2", "7", "4,3", "3,4,5"}, "", 0, 3, -2},
    {{"5", "1", "1", "2", "7", "4,3", "4,5,6"}, "block", 0, 3, 4},
    {{"6", "2", "1", "2", "7", "4,3", "4,5,6"}, "block", 0, 3, -1},
    {{"2", "1", "0", "2", "6", "3(x2)", "0,2,4"}, "cyclic", 0, 3, 2},
    {{"4", "2", "0", "2", "6", "3(x2)", "0,2,4"}, "cyclic", 0, 3, -1},
    {{"4", "2", "0", "2", "6", "3(x2)", "0,3,4"}, "arbitrary", 0, 3, -2},
    {{"0", "0", "0", "1", "1", "1", "0"}, "", 0, 1, -1},
    /* what does not fit together */
    {{"5", "0", "1", "2", "7", "4,3", "4,5,6"}, "", -1, 0, 0},
    {{"5", "1", "1", "2", "8", "4,3", "4,5,6"}, "", -1, 0, 0},
    {{"5", "1", "1", "3", "7", "4,3", "4,5,6"}, "", -1, 0, 0},
    {{"5", "1", "0", "2", "7", "4,3", "4,5,6"}, "", -1, 0, 0},
    {{"5", "1", "2", "2", "7", "4,3", "4,5,6"}, "", -1, 0, 0},
    {{"5", "3", "1", "2", "7", "4,3", "4,5,6"}, "", -1, 0, 0},
    {{"5", "1", "1", "2", "7", "4,3", ""}, "", -1, 0, 0},
    {{"x", "1", "1", "2", "7", "4,3", "4,5,6"}, "", -1, 0, 0},
    {{NULL, "1", "1", "2", "7", "4,3", "4,5,6"}, "", -1, 0, 0},
};

static void set(const char *name, const char *value)
{
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

static void test_slurm(void **state)
{
    static const char *const names[] = {
        "SLURM_PROCID",         "SLURM_LOCALID",
        "SLURM_NODEID",         "SLURM_STEP_NUM_NODES",
        "SLURM_STEP_NUM_TASKS", "SLURM_STEP_TASKS_PER_NODE",
        "SLURM_GTIDS"};
    struct aspt_task_arguments told;

    (void) state;
    aspt_task_arguments_init(&told);
    told.launcher = "srun";
    setenv("SLURM_STEP_NODELIST", "n[1-2]", 1);
    for (size_t i = 0; i < sizeof(tasks) / sizeof(tasks[0]); i++) {
        uint32_t users[ASP_TASKS_MAX];
        struct aspt_place place;
        struct asp_err err = {.text = ""};
        int rc, user = -2;

        for (int v = 0; v < 7; v++)
            set(names[v], tasks[i].value[v]);
        set("SLURM_DISTRIBUTION", tasks[i].distribution);
        rc = aspt_place_find(&told, &place, &err);
        if (rc != tasks[i].rc || (rc == 0 && place.nlocal != tasks[i].nlocal))
            fail_msg("row %zu: %d, %s", i, rc, err.text);
        if (rc == 0 && aspt_place_user_ranks(&place, 1, users) == 0)
            user = users[place.local] == ASP_RANK_NONE
                       ? -1
                       : (int) users[place.local];
        if (rc == 0 && user != tasks[i].user)
            fail_msg("row %zu: user %d", i, user);
        aspt_place_clear(&place);
    }
}

/* PMI_RANK, PMI_SIZE, local rank and ranks, of "4,3" in blocks. */
static const struct {
    const char *value[4];
    int rc;
    uint32_t node, local;
} ranks[] = {
    {{"0", "7", "0", "4"}, 0, 0, 0},   {{"3", "7", "3", "4"}, 0, 0, 3},
    {{"4", "7", "0", "3"}, 0, 1, 0},   {{"6", "7", NULL, NULL}, 0, 1, 2},
    {{"6", "8", "2", "3"}, -1, 0, 0},  {{"7", "7", "2", "3"}, -1, 0, 0},
    {{"6", "7", "3", "4"}, -1, 0, 0},  {{"6", "7", "6", "7"}, -1, 0, 0},
    {{NULL, "7", "2", "3"}, -1, 0, 0}, {{"6", NULL, "2", "3"}, -1, 0, 0},
};

static void test_hydra(void **state)
{
    static const char *const names[] = {"PMI_RANK", "PMI_SIZE",
                                        "MPI_LOCALRANKID", "MPI_LOCALNRANKS"};
    struct aspt_task_arguments told;

    (void) state;
    aspt_task_arguments_init(&told);
    told.launcher = "mpiexec";
    told.tasks_per_node = "4,3";
    told.distribution = "block";
    told.names = "a,b";
    for (size_t i = 0; i < sizeof(ranks) / sizeof(ranks[0]); i++) {
        struct aspt_place place;
        struct asp_err err = {.text = ""};
        int rc;

        for (int v = 0; v < 4; v++)
            set(names[v], ranks[i].value[v]);
        rc = aspt_place_find(&told, &place, &err);
        if (rc != ranks[i].rc ||
            (rc == 0 &&
             (place.node != ranks[i].node || place.local != ranks[i].local ||
              strcmp(place.nodename, place.node ? "b" : "a") != 0)))
            fail_msg("row %zu: %d, node %u, local %u, %s", i, rc,
                     (unsigned) place.node, (unsigned) place.local, err.text);
        aspt_place_clear(&place);
    }
}

/* ---- CPUs --------------------------------------------------------------------------- */

static void test_doubt(void **state)
{
    static const struct {
        unsigned count;
        struct aspt_cpus_known known;
        const char *doubt; /* how it begins */
    } rows[] = {
        /* mpiexec: all of the machine, a part of it */
        {8, {false, NULL, 8}, "other jobs may use all CPUs"},
        {7, {false, NULL, 8}, ""},
        {8, {false, NULL, 0}, "other jobs"}, /* not known */
        /* the same in an allocation of Slurm */
        {8, {false, "8", 8}, ""},
        {8, {false, "4", 8}, "Slurm does not keep"},
        {4, {false, "4", 8}, ""},
        {8, {false, "x", 8}, "the step's CPUs are not known"},
        /* srun */
        {8, {true, "8", 8}, ""},
        {8, {true, "4", 8}, "Slurm does not keep"},
        {4, {true, NULL, 8}, "the step's CPUs are not known"},
    };

    (void) state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *doubt = aspt_cpus_doubt(rows[i].count, &rows[i].known);

        if (strncmp(doubt, rows[i].doubt, strlen(rows[i].doubt)) != 0 ||
            !*doubt != !*rows[i].doubt)
            fail_msg("row %zu: %s", i, doubt);
    }
}

/* ---- the meeting ---------------------------------------------------------------------- */

enum { FOLLOWERS = 5, SHORT_MS = 300, LONG_MS = 20000 };

static struct asp_cpuset one_cpu(unsigned cpu)
{
    struct asp_cpuset cpus = {{0}};

    asp_cpuset_add(&cpus, cpu);
    return cpus;
}

/* A child that follows; its status says how that went. */
static pid_t follow(uint32_t local, int timeout_ms)
{
    pid_t pid = fork();
    struct aspt_decision decision;
    struct asp_cpuset cpus = one_cpu(local);
    struct asp_err err;
    char first;

    if (pid != 0)
        return pid;
    if (aspt_meet_follow(local, &cpus, timeout_ms, &decision, &err) < 0)
        _exit(errno == ECONNRESET ? 2 : errno == ETIMEDOUT ? 3 : 4);
    if (decision.verdict == ASPT_GIVE_UP)
        _exit(5);
    _exit(strcmp(decision.text, "text") == 0 && decision.board >= 0 &&
                  pread(decision.board, &first, 1, 0) == 1 && first == 'b'
              ? 0
              : 6);
}

/* The exit status of a child, which ends by itself. */
static int status_of(pid_t pid)
{
    int status;

    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* The leader is a child, too: the meeting place is named by the parent. */
static pid_t lead(uint32_t nlocal, enum aspt_outcome verdict, int timeout_ms)
{
    struct aspt_decision decision = {.verdict = verdict, .board = -1};
    struct asp_cpuset cpus = one_cpu(0);
    struct aspt_meeting meeting;
    struct asp_err err;
    char text[] = "text";
    pid_t pid = fork();
    int rc;

    if (pid != 0)
        return pid;
    rc = aspt_meet_gather(&meeting, nlocal, &cpus, timeout_ms, &err);
    if (rc == 0 && asp_cpuset_count(&meeting.cpus) != nlocal)
        _exit(7);
    decision.text = verdict == ASPT_WITH_LAYOUT ? text : NULL;
    decision.board = memfd_create("board", MFD_CLOEXEC);
    if (decision.board < 0 || write(decision.board, "b", 1) != 1)
        _exit(8);
    aspt_meet_answer(&meeting, &decision);
    aspt_meet_close(&meeting);
    _exit(rc == 0 ? 0 : errno == ETIMEDOUT ? 3 : 4);
}

static void test_meeting(void **state)
{
    pid_t pids[FOLLOWERS + 1];

    (void) state;
    for (uint32_t i = 1; i <= FOLLOWERS; i++)
        pids[i] = follow(i, LONG_MS); /* some before the leader */
    pids[0] = lead(FOLLOWERS + 1, ASPT_WITH_LAYOUT, LONG_MS);
    for (uint32_t i = 0; i <= FOLLOWERS; i++)
        assert_int_equal(status_of(pids[i]), 0);
}

static void test_verdict(void **state)
{
    pid_t leader = lead(2, ASPT_GIVE_UP, LONG_MS), other = follow(1, LONG_MS);

    (void) state;
    assert_int_equal(status_of(leader), 0);
    assert_int_equal(status_of(other), 5);
}

/* Stopped and continued while they wait, by a debugger or Slurm's suspend. */
static void test_stopped(void **state)
{
    const struct timespec while_it_waits = {.tv_nsec = 200 * 1000000L};
    pid_t pids[] = {lead(3, ASPT_WITH_LAYOUT, LONG_MS), follow(1, LONG_MS), 0};
    int status;

    (void) state;
    nanosleep(&while_it_waits, NULL);
    for (int i = 0; i < 2; i++) {
        kill(pids[i], SIGSTOP);
        assert_int_equal(waitpid(pids[i], &status, WUNTRACED), pids[i]);
        assert_true(WIFSTOPPED(status));
        kill(pids[i], SIGCONT);
    }
    nanosleep(&while_it_waits, NULL);
    pids[2] = follow(2, LONG_MS);
    for (int i = 0; i < 3; i++)
        assert_int_equal(status_of(pids[i]), 0);
}

/* One that never comes; those that did hear of it. */
static void test_missing(void **state)
{
    pid_t leader = lead(3, ASPT_GIVE_UP, SHORT_MS), other = follow(1, LONG_MS);

    (void) state;
    assert_int_equal(status_of(leader), 3);
    assert_int_equal(status_of(other), 5);
    assert_int_equal(status_of(follow(1, SHORT_MS)), 3); /* no leader at all */
}

/* A number that is none, and one twice, are not those that are missing. */
static void test_strangers(void **state)
{
    pid_t leader, first, second, wrong;

    (void) state;
    leader = lead(3, ASPT_WITH_LAYOUT, SHORT_MS);
    wrong = follow(7, LONG_MS);
    first = follow(1, LONG_MS);
    second = follow(1, LONG_MS);
    assert_int_equal(status_of(leader), 3);
    assert_int_equal(status_of(wrong), 2);
    assert_int_equal(status_of(first) + status_of(second), 2);
}

/* ---- another user ---------------------------------------------------------------- */

enum {
    NOBODY = 65534,
    DECOYS = 400, /* below the usual limit of open files */
};

/* What another user of the node does about the meeting place. */
enum hostility {
    HOLDS,    /* has the plain name before anyone, accepts, and says nothing */
    LETS_GO,  /* the same, until it is in others' way no more */
    CROWDS,   /* and has many names of that form, whose queues are full */
    CONNECTS, /* and connects to each socket of that form, again and again */
};

static int listen_at(struct sockaddr_un *address, const char *behind)
{
    int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

    strcat(address->sun_path + 1, behind);
    if (fd < 0 ||
        bind(fd, (struct sockaddr *) address,
             (socklen_t) (offsetof(struct sockaddr_un, sun_path) + 1 +
                          strlen(address->sun_path + 1))) < 0 ||
        listen(fd, 0) < 0)
        _exit(9);
    return fd;
}

static int connect_to(const struct sockaddr_un *address)
{
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0);

    (void) connect(fd, (const struct sockaddr *) address,
                   (socklen_t) (offsetof(struct sockaddr_un, sun_path) + 1 +
                                strlen(address->sun_path + 1)));
    return fd;
}

static void crowd(const struct sockaddr_un *plain)
{
    for (unsigned i = 0; i < DECOYS; i++) {
        struct sockaddr_un address = *plain;
        char behind[32];

        snprintf(behind, sizeof(behind), "-%016x", i);
        (void) listen_at(&address, behind);
        (void) connect_to(&address);
    }
}

static void connect_for_ever(const struct sockaddr_un *plain)
{
    for (int turn = 0;; turn++) {
        FILE *list = fopen("/proc/net/unix", "r");
        struct sockaddr_un address;
        static int last[16];
        char line[256], *name;

        while (list && fgets(line, sizeof(line), list)) {
            name = strchr(line, '@');
            if (!name || !strstr(name, plain->sun_path + 1) ||
                strlen(name) > sizeof(address.sun_path))
                continue;
            address = *plain;
            strcpy(address.sun_path + 1, strtok(name + 1, "\n"));
            close(last[turn % 16]);
            last[turn % 16] = connect_to(&address);
        }
        if (list)
            fclose(list);
    }
}

/* A process of another user that has begun when this returns. */
static pid_t start_hostile(enum hostility hostility)
{
    struct sockaddr_un plain, address;
    int ready[2], fd;
    char byte = 0;
    pid_t pid;

    assert_int_equal(pipe(ready), 0);
    pid = fork();
    if (pid != 0) {
        close(ready[1]);
        assert_int_equal(read(ready[0], &byte, 1), 1);
        close(ready[0]);
        return pid;
    }
    (void) aspt_names_plain(&plain);
    if (setgid(NOBODY) < 0 || setuid(NOBODY) < 0 ||
        prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
        _exit(9);
    address = plain;
    fd = listen_at(&address, "");
    if (hostility == CROWDS)
        crowd(&plain);
    if (write(ready[1], &byte, 1) != 1)
        _exit(9);
    if (hostility == CONNECTS)
        connect_for_ever(&plain);
    if (hostility == LETS_GO) {
        usleep(SHORT_MS * 1000);
        close(fd);
        fd = -1;
    }
    for (;;) {
        (void) (fd >= 0 ? accept(fd, NULL, NULL) : 0);
        usleep(1000);
    }
}

static void test_hostile(void **state)
{
    (void) state;
    if (geteuid() != 0)
        skip(); /* only root can be somebody else */
    for (enum hostility hostility = HOLDS; hostility <= CONNECTS; hostility++) {
        pid_t hostile = start_hostile(hostility), pids[3];
        int failed = 0;

        pids[1] = follow(1, LONG_MS);
        pids[0] = lead(3, ASPT_WITH_LAYOUT, LONG_MS);
        usleep(2000 * SHORT_MS); /* the name is free again */
        pids[2] = follow(2, LONG_MS);
        for (int i = 0; i < 3; i++)
            failed += status_of(pids[i]) != 0;
        kill(hostile, SIGKILL);
        waitpid(hostile, NULL, 0);
        if (failed)
            fail_msg("hostility %d: %d tasks failed", hostility, failed);
    }
}

/* Without a leader nobody waits longer than he wants to, and learns of it. */
static void test_hostile_alone(void **state)
{
    struct aspt_decision decision;
    struct asp_cpuset cpus = one_cpu(1);
    struct asp_err err;
    pid_t hostile, pid;
    int status;

    (void) state;
    if (geteuid() != 0)
        skip();
    hostile = start_hostile(CROWDS);
    pid = fork();
    if (pid == 0) {
        int rc = aspt_meet_follow(1, &cpus, SHORT_MS, &decision, &err);

        _exit(rc == -1 && errno == ETIMEDOUT &&
                      strstr(err.text, "another user of the node")
                  ? 0
                  : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    kill(hostile, SIGKILL);
    waitpid(hostile, NULL, 0);
    assert_int_equal(status, 0);
}

/* Two tasks that both lead are a mistake of the launcher. */
static void test_two_leaders(void **state)
{
    pid_t first = lead(2, ASPT_GIVE_UP, LONG_MS), other;

    (void) state;
    usleep(1000 * SHORT_MS);
    assert_int_equal(status_of(lead(2, ASPT_GIVE_UP, LONG_MS)), 4);
    other = follow(1, LONG_MS);
    assert_int_equal(status_of(first), 0);
    assert_int_equal(status_of(other), 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_slurm),
        cmocka_unit_test(test_hydra),
        cmocka_unit_test(test_doubt),
        cmocka_unit_test(test_meeting),
        cmocka_unit_test(test_stopped),
        cmocka_unit_test(test_verdict),
        cmocka_unit_test(test_missing),
        cmocka_unit_test(test_strangers),
        cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_hostile_alone),
        cmocka_unit_test(test_two_leaders),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
