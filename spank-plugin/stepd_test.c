/* SPDX-License-Identifier: BSD-3-Clause */
/* slurmstepd's hooks, on the node: the agent that behaves and many that do not
 * (fake_agent.c), the board, what is left behind, and steps that cannot be. Run
 * as root it also shows that the agent is the user for good. */
#include "config.h"

#include "filter.h"
#include "spank_host.h"
#include "stepd.h"
#include "stepd_try.h"

#include "common/board.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The board: pids by slot, seals. */
static void test_board(void **state)
{
    static char text[OUTPUT_MAX];
    struct asp_board *board;
    int fd;

    (void) state;
    start("good", NULL);
    task(0, text);
    fd = atoi(line_of(text, "ASPEN_BOARD_FD=") + strlen("ASPEN_BOARD_FD="));
    board = mmap(NULL, asp_board_bytes(3), PROT_READ | PROT_WRITE, MAP_SHARED,
                 fd, 0);
    assert_ptr_not_equal(board, MAP_FAILED);
    assert_int_equal(board->magic, ASP_BOARD_MAGIC);
    assert_int_equal(board->ntasks, 3);
    assert_int_equal(board->nghosts, 1);
    assert_int_not_equal(board->slots[0].pid, 0);
    assert_int_equal(board->slots[0].state, ASP_TASK_STARTED);
    assert_int_equal(board->slots[1].pid, 0);
    assert_int_equal(board->changes, 1);
    assert_int_equal(ftruncate(fd, 1), -1);
    munmap(board, asp_board_bytes(3));
    asps_stepd_exit();
    assert_int_equal(fcntl(fd, F_GETFD), -1);
}

/* The agent is the user, and has nothing of slurmstepd. */
static void test_agent_is_bare(void **state)
{
    static char text[OUTPUT_MAX];
    char want[128];

    (void) state;
    start("good", NULL);
    task(0, text);
    snprintf(want, sizeof(want), "ASPEN_T_Uid=%u %u %u %u", host.uid, host.uid,
             host.uid, host.uid);
    HAS(want);
    snprintf(want, sizeof(want), "ASPEN_T_Gid=%u %u %u %u", host.gid, host.gid,
             host.gid, host.gid);
    HAS(want);
    if (getuid() == 0) {
        HAS("ASPEN_T_Groups=4711 64997 ");
        HAS("ASPEN_T_NoNewPrivs=1");
    }
    HAS("ASPEN_T_SigBlk=0000000000000000");
    HAS("ASPEN_T_FDS=0,1,2,");
    HAS("ASPEN_T_ENV=PATH,LANG,HOME,");
    HAS("ASPEN_T_CWD=/");
    HAS("ASPEN_T_UMASK=0077");
    HAS("ASPEN_T_LIMITS=1,0");
    asps_stepd_exit();
}

static int count_fds(void)
{
    DIR *fds = opendir("/proc/self/fd");
    int n = 0;

    while (readdir(fds) != NULL)
        n++;
    closedir(fds);
    return n;
}

/* slurmstepd is as before: directory, umask, signals, descriptors, children. */
static void test_leaves_no_trace(void **state)
{
    static const char *const agents[] = {"good", "stay", "hang", "garbage",
                                         "die"};
    struct sigaction pipe_action;
    mode_t mask = umask(0123);
    char before[512], after[512];
    int fds = count_fds();

    (void) state;
    assert_non_null(getcwd(before, sizeof(before)));
    for (size_t i = 0; i < sizeof(agents) / sizeof(agents[0]); i++) {
        setup(NULL);
        start(agents[i], NULL);
        asps_stepd_exit();
        assert_int_equal(count_fds(), fds);
        assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
        assert_int_equal(errno, ECHILD);
    }
    assert_int_equal(umask(mask), 0123);
    assert_non_null(getcwd(after, sizeof(after)));
    assert_string_equal(before, after);
    sigaction(SIGPIPE, NULL, &pipe_action);
    assert_true(pipe_action.sa_handler == SIG_DFL);
}

/* Whatever the agent does, roles hold, it is said once, and it is short. */
static void test_bad_agents(void **state)
{
    static const struct {
        const char *agent;
        const char *says;
    } rows[] = {
        {"short", "incomplete"},       {"magic", "garbage"},
        {"version", "version"},        {"garbage", "garbage"},
        {"oversize", "absurd length"}, {"longer", "length"},
        {"lying", "length"},           {"role", "wrong role"},
        {"preload", "must not set"},   {"endless", "without end"},
        {"hang", "did not answer"},    {"deaf", "did not answer"},
        {"die", "without an answer"},  {"absent", "without an answer"},
        {"plain", "no?free core"},
    };
    static char text[OUTPUT_MAX];

    (void) state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        time_t begin = time(NULL);

        setup(NULL);
        start(rows[i].agent, NULL);
        if (strstr(host.log, rows[i].says) == NULL)
            fail_msg("agent-%s: says \"%s\"", rows[i].agent, host.log);
        if (strchr(host.log, '\n') != strrchr(host.log, '\n'))
            fail_msg("agent-%s: more than one line", rows[i].agent);
        assert_int_equal(task(0, text), 0);
        HAS("ASPEN_ROLE=user");
        HAS("SLURM_NTASKS=4");
        assert_non_null(strstr(text, "ASPEN_LAYOUT=aspen-layout/1 job=12.0"));
        assert_int_equal(task(2, text), 42);
        assert_in_range(time(NULL) - begin, 0, 4);
        asps_stepd_exit();
    }
}

static void test_require(void **state)
{
    static char text[OUTPUT_MAX];

    (void) state;
    start("die", "ghost:1,require");
    assert_non_null(strstr(host.log, "require"));
    assert_int_equal(task(0, text), EXIT_FAILURE);
    assert_int_equal(task(2, text), EXIT_FAILURE);
    asps_stepd_exit();
    setup(NULL);
    start("refuse", "ghost:1");
    assert_non_null(strstr(host.log, "no?free core"));
    assert_int_equal(task(0, text), EXIT_FAILURE);
    asps_stepd_exit();
}

/* An agent that ends while the step runs is reported, once. */
static void test_agent_ends_early(void **state)
{
    struct timespec pause = {.tv_nsec = 100000000};

    (void) state;
    start("brief", NULL);
    nanosleep(&pause, NULL);
    assert_string_equal(host.log, "");
    host.exit_status = SIGKILL;
    asps_stepd_task_exit(NULL);
    assert_string_equal(host.log, "");
    host.exit_status = 0;
    asps_stepd_task_exit(NULL);
    asps_stepd_task_exit(NULL);
    assert_non_null(strstr(host.log, "ended before the step"));
    assert_ptr_equal(strchr(host.log, '\n'), strrchr(host.log, '\n'));
    asps_stepd_exit();
}

/* Impossible steps fail, and say why; none is left to run. */
static void test_impossible(void **state)
{
    static char text[OUTPUT_MAX];

    (void) state;
    host.node = 0; /* the one that speaks */
    start("good", "ghost:3");
    assert_non_null(strstr(host.log, "leave no user task"));
    assert_int_equal(task(0, text), EXIT_FAILURE);
    asps_stepd_exit();
    setup(NULL);
    host_setenv("SLURM_STEP_TASKS_PER_NODE", "1,3"); /* the other node */
    host.ntasks = 4;
    start("good", NULL);
    assert_string_equal(host.log, "");
    assert_int_equal(task(0, text), EXIT_FAILURE);
    asps_stepd_exit();
}

/* Where auto chose the ghosts, it does without them. */
static void test_optional(void **state)
{
    static char text[OUTPUT_MAX];

    (void) state;
    host.node = 0;
    start("good", "ghost:3,adapt=auto");
    assert_non_null(strstr(host.log, "running without ghosts"));
    task(0, text);
    assert_null(strstr(text, "ASPEN_LAYOUT"));
    asps_stepd_exit();
    setup(NULL);
    start("good", "ghost:3,adapt=auto,require=yes");
    assert_int_equal(task(0, text), EXIT_FAILURE);
    asps_stepd_exit();
    setup(NULL); /* tasks that were added would be ranks that nobody wants */
    host.node = 0;
    host_setenv(ASPS_ADDED_ENV, "1");
    start("good", "ghost:3,adapt=auto");
    assert_non_null(strstr(host.log, "use fewer nodes"));
    assert_int_equal(task(0, text), EXIT_FAILURE);
    asps_stepd_exit();
}

/* Mode off: nothing without a report; with one the runtime alone. */
static void test_observer(void **state)
{
    static char text[OUTPUT_MAX];

    (void) state;
    host_setenv(ASPS_REPORT_ENV, "no");
    start("good", "off,require");
    task(0, text);
    assert_null(strstr(text, "ASPEN_ROLE"));
    HAS("LD_PRELOAD=/opt/user.so");
    asps_stepd_exit();
    setup(NULL);
    host_setenv(ASPS_REPORT_ENV, "/some/where.json");
    start("die", "off"); /* it is not asked */
    assert_string_equal(host.log, "");
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    task(2, text);
    HAS("ASPEN_REPORT=/some/where.json");
    HAS("SLURM_NTASKS=6");
    HAS("fd -1"); /* no board */
    assert_string_equal(line_of(text, "ASPEN_LAYOUT="),
                        "ASPEN_LAYOUT=aspen-layout/1 job=12.0 mode=off gpn=0 "
                        "bound=no reason=mode%20off%20leaves%20CPUs%20to%20"
                        "Slurm digest= size=6 nnodes=2 node=1 service= "
                        "task=3:user:3:-:numa-1:h-1:c "
                        "task=4:user:4:-:numa-1:h-1:c "
                        "task=5:user:5:-:numa-1:h-1:c end");
    asps_stepd_exit();
    setup(NULL);
    host_setenv(ASPS_REPORT_ENV, "1");
    host.nlocal = 0;
    start("good", "off,require");
    assert_non_null(strstr(host.log, "without a report"));
    task(0, text);
    assert_null(strstr(text, "ASPEN_ROLE"));
    asps_stepd_exit();
}

/* A node with more tasks than the board and the agent can serve: without ghosts
 * it runs plain, and says so; with ghosts all nodes decide alike. */
static void test_too_many_tasks(void **state)
{
    static const char *const plain[] = {"offload", "thread",
                                        "ghost:1,adapt=auto"};
    static const char *const failing[] = {"ghost:1", "offload,require",
                                          "ghost:1,adapt=auto,require"};
    static char text[OUTPUT_MAX];

    (void) state;
    for (size_t i = 0; i < 3; i++) {
        setup(NULL);
        host.node = 0;
        host.nlocal = 1025;
        host.ntasks = 1028;
        host_setenv("SLURM_STEP_TASKS_PER_NODE", "1025,3");
        start("good", plain[i]);
        if (strstr(host.log, "without") == NULL)
            fail_msg("%s says \"%s\"", plain[i], host.log);
        assert_int_equal(task(0, text), 0);
        assert_null(strstr(text, "ASPEN_ROLE"));
        HAS("LD_PRELOAD=/opt/user.so");
        asps_stepd_exit();
        setup(NULL);
        host.node = 0;
        host.nlocal = 1025;
        host.ntasks = 1028;
        host_setenv("SLURM_STEP_TASKS_PER_NODE", "1025,3");
        start("good", failing[i]);
        assert_int_equal(task(0, text), EXIT_FAILURE);
        assert_true(strlen(host.log) > 0);
        asps_stepd_exit();
    }
    setup(NULL); /* the other node has them */
    host.ntasks = 1028;
    host_setenv("SLURM_STEP_TASKS_PER_NODE", "1025,3");
    start("good", "ghost:1,adapt=auto");
    assert_int_equal(task(0, text), 0);
    assert_null(strstr(text, "ASPEN_ROLE"));
    asps_stepd_exit();
    setup(NULL);
    host.ntasks = 1028;
    host_setenv("SLURM_STEP_TASKS_PER_NODE", "1025,3");
    start("good", "offload");
    assert_int_equal(task(0, text), 0);
    HAS("ASPEN_ROLE=user");
    asps_stepd_exit();
}

/* slurmstepd's name of the node counts, not the job's; no line is forged. */
static void test_nodename(void **state)
{
    (void) state;
    start("die", NULL);
    if (strncmp(host.log, "aspen: n2: lost", 15) != 0)
        fail_msg("says \"%s\"", host.log);
    asps_stepd_exit();
    setup(NULL);
    setenv("SLURMD_NODENAME", "n2\nslurmd: n3\033[0m", 1);
    start("die", NULL);
    if (strncmp(host.log, "aspen: n2?slurmd:?n3?[0m: ", 26) != 0)
        fail_msg("says \"%s\"", host.log);
    asps_stepd_exit();
}

/* Where a ghost cannot take the program's place: no task runs as what it is
 * not. */
static void test_no_place(void **state)
{
    static char text[OUTPUT_MAX];

    (void) state;
    host.node = 0;
    host_setenv("SLURM_CONTAINER", "/images/app");
    start("good", NULL);
    assert_non_null(strstr(host.log, "container"));
    assert_int_equal(task(0, text), EXIT_FAILURE);
    asps_stepd_exit();
    setup(NULL);
    host.node = 0;
    host_setenv("SLURM_CONTAINER", "/images/app");
    start("good", "ghost:1,adapt=auto");
    assert_non_null(strstr(host.log, "container"));
    assert_int_equal(task(0, text), 0);
    assert_null(strstr(text, "ASPEN_ROLE"));
    asps_stepd_exit();
    setup(NULL);
    start("good", NULL);
    host.argv[0] = NULL; /* so in a container of Slurm 24.11 */
    assert_int_equal(task(2, text), EXIT_FAILURE);
    asps_stepd_exit();
}

/* Without ghosts nothing depends on us: the program runs plain. */
static void test_no_ghosts(void **state)
{
    static char text[OUTPUT_MAX];

    (void) state;
    start("good", "offload");
    assert_string_equal(host.log, "");
    task(2, text);
    HAS("ASPEN_ROLE=user");
    HAS("SLURM_NTASKS=6");
    asps_stepd_exit();
    setup(NULL);
    start("die", "offload");
    assert_non_null(strstr(host.log, "without asynchronous progress"));
    task(2, text);
    assert_null(strstr(text, "ASPEN_ROLE"));
    HAS("LD_PRELOAD=/opt/user.so");
    asps_stepd_exit();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_board, setup),
        cmocka_unit_test_setup(test_agent_is_bare, setup),
        cmocka_unit_test_setup(test_leaves_no_trace, setup),
        cmocka_unit_test_setup(test_bad_agents, setup),
        cmocka_unit_test_setup(test_require, setup),
        cmocka_unit_test_setup(test_agent_ends_early, setup),
        cmocka_unit_test_setup(test_impossible, setup),
        cmocka_unit_test_setup(test_optional, setup),
        cmocka_unit_test_setup(test_too_many_tasks, setup),
        cmocka_unit_test_setup(test_nodename, setup),
        cmocka_unit_test_setup(test_no_place, setup),
        cmocka_unit_test_setup(test_no_ghosts, setup),
        cmocka_unit_test_setup(test_observer, setup),
    };

    alarm(60);
    return cmocka_run_group_tests(tests, setup_group, teardown_group);
}
