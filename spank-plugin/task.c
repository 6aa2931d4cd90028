/* SPDX-License-Identifier: BSD-3-Clause */
/* Called by stepd.c in task_init. The process is the user's; only the memory
 * is a copy of slurmstepd's. */
#include "config.h"

#include "task.h"

#include "board.h"
#include "degraded.h"
#include "fds.h"
#include "taskenv.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert(CPU_SETSIZE == 64 * ASP_ANSWER_CPU_WORDS, "CPUs of an answer");

static void fail(const char *what) __attribute__((noreturn));

static void fail(const char *what)
{
    slurm_error("aspen: %s: %m", what);
    _exit(EXIT_FAILURE);
}

/* Slurm's own affinity comes first; the plan is within it. A task that cannot
 * be bound still computes the right thing, so it is told and goes on. */
static void bind_task(const struct asps_answer_task *task, uint32_t slot)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (task->cpus[cpu / 64] >> (cpu % 64) & 1)
            CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof(set), &set) < 0)
        slurm_spank_log("aspen: local task %" PRIu32 " cannot be bound: %m",
                        slot);
}

/* Mode off has none. */
static void keep_board(const struct asps_step *step, uint32_t slot)
{
    int fd = step->board_fd, flags;

    if (fd < 0)
        return;
    flags = fcntl(fd, F_GETFD);
    if (flags < 0 || fcntl(fd, F_SETFD, flags & ~FD_CLOEXEC) < 0)
        fail("cannot keep the board of tasks");
    if (asps_board_enter(fd, step->nlocal, slot) < 0)
        fail("cannot map the board of tasks");
}

/* srun sends its stdin to every task, and slurmstepd keeps a piece until every
 * task of the node has taken it: with one that does not read, the others get
 * no more after the first megabyte. (So it is in Slurm without us, even when
 * that task closes its stdin.) The ghost has other things to do, so a child
 * takes its share; it ends with the input or with the ghost. */
static void drain_stdin(void)
{
    static char scrap[65536];
    ssize_t got;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "aspen-stdin");
    asps_close_from(STDIN_FILENO + 1);
    do
        got = read(STDIN_FILENO, scrap, sizeof(scrap));
    while (got > 0 || (got < 0 && errno == EINTR));
    _exit(EXIT_SUCCESS);
}

static void give_stdin_away(void)
{
    struct stat info;
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

    if (null < 0)
        fail("cannot open /dev/null");
    if (fstat(STDIN_FILENO, &info) == 0 &&
        (S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode)) && fork() == 0)
        drain_stdin();
    if (dup2(null, STDIN_FILENO) < 0)
        fail("cannot replace stdin");
}

static void become_ghost(spank_t spank, const struct asps_step *step)
{
    char name[] = "aspen-ghost";
    char *argv[] = {name, NULL};
    char **env = asps_taskenv_ghost(spank, step);

    if (env == NULL)
        fail("no memory for the environment of a ghost");
    give_stdin_away();
    execve(step->settings.ghost, argv, env);
    fail(step->settings.ghost);
}

void asps_task_start(spank_t spank, struct asps_step *step)
{
    const struct asps_answer_task *task = NULL;
    int slot = -1;

    if (spank_get_item(spank, S_TASK_ID, &slot) != ESPANK_SUCCESS || slot < 0 ||
        (uint32_t)slot >= step->nlocal) {
        slurm_error("aspen: Slurm does not name this task");
        _exit(EXIT_FAILURE);
    }
    asps_agent_forget(&step->agent);
    if (step->answer_bytes != NULL && step->answer.ntasks == step->nlocal)
        task = &step->answer.tasks[slot];
    keep_board(step, (uint32_t)slot);
    if (task != NULL && task->bind)
        bind_task(task, (uint32_t)slot);
    if (asps_taskenv_set(spank, step, (uint32_t)slot, task) < 0)
        fail("no memory for the environment of a task");
    if ((uint32_t)slot >= asps_step_users(step))
        become_ghost(spank, step);
}

void asps_task_script(spank_t spank, const struct asps_step *step)
{
    asps_taskenv_script(spank, step);
}
