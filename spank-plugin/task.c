/* SPDX-License-Identifier: BSD-3-Clause */
/* Called by stepd.c in task_init. The process is the user's; only the memory
 * is a copy of slurmstepd's. */
#include "config.h"

#include "task.h"

#include "degraded.h"
#include "taskenv.h"

#include "common/board.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
static int keep_board(const struct asps_step *step, uint32_t slot)
{
    int fd = step->board_fd, flags;

    if (fd < 0)
        return 0;
    if (asp_board_enter(fd, step->nlocal, slot) < 0)
        return -1;
    flags = fcntl(fd, F_GETFD);
    return flags < 0 ? -1 : fcntl(fd, F_SETFD, flags & ~FD_CLOEXEC);
}

/* What a TaskProlog prints is meant once for each task that the user has. The
 * ghost takes its stdout back. */
static void put_stdout_aside(spank_t spank)
{
    char text[16];
    int fd = dup(STDOUT_FILENO), null = open("/dev/null", O_WRONLY | O_CLOEXEC);

    if (fd < 0 || null < 0 || dup2(null, STDOUT_FILENO) < 0)
        fail("cannot put the stdout of a ghost aside");
    snprintf(text, sizeof(text), "%d", fd);
    spank_setenv(spank, ASP_STDOUT_FD_ENV, text, 1);
}

/* Slurm itself execs the ghost, when it has given the task all that tasks get:
 * limits, SELinux context, TaskProlog, TMPDIR. It takes the command line from
 * the array that S_JOB_ARGV names, so that is where the ghost's is put. SPANK
 * asks not to change what it returns; but here nobody else has it, for this
 * process is a fork of slurmstepd, and only pointers are replaced. */
static void become_ghost(spank_t spank, const struct asps_step *step)
{
    char *path = strdup(step->settings.ghost);
    char **argv = NULL, **again = NULL;
    int argc = 0;

    if (path == NULL || asps_taskenv_ghost(spank, step) < 0)
        fail("no memory for a ghost");
    errno = ENOTSUP;
    if (spank_get_item(spank, S_JOB_ARGV, &argc, &argv) != ESPANK_SUCCESS ||
        argc < 1 || argv == NULL || argv[0] == NULL)
        fail("Slurm names no program that a ghost could replace");
    put_stdout_aside(spank);
    argv[0] = path;
    argv[1] = NULL;
    if (spank_get_item(spank, S_JOB_ARGV, &argc, &again) != ESPANK_SUCCESS ||
        again == NULL || again[0] != path)
        fail("Slurm does not let a ghost replace the program");
}

/* Returns -1 with errno when Aspen cannot be in this task. */
static int make_task(spank_t spank, const struct asps_step *step, uint32_t slot)
{
    const struct asps_answer_task *task = NULL;

    if (step->answer_bytes != NULL && step->answer.ntasks == step->nlocal)
        task = &step->answer.tasks[slot];
    if (keep_board(step, slot) < 0)
        return -1;
    if (task != NULL && task->bind)
        bind_task(task, slot);
    return asps_taskenv_set(spank, step, slot, task);
}

void asps_task_start(spank_t spank, struct asps_step *step)
{
    int slot = -1;

    if (spank_get_item(spank, S_TASK_ID, &slot) != ESPANK_SUCCESS || slot < 0 ||
        (uint32_t) slot >= step->nlocal) {
        slurm_error("aspen: Slurm does not name this task");
        _exit(EXIT_FAILURE);
    }
    asps_agent_forget(&step->agent);
    if (make_task(spank, step, (uint32_t) slot) < 0) {
        /* A ghost that is not there, or its user, would be waited for. */
        if (step->spec.ghosts > 0 || step->spec.require)
            fail("a task of the step cannot be set up");
        slurm_spank_log("aspen: %s: local task %d runs without Aspen: %m",
                        step->nodename, slot);
        asps_taskenv_clear(spank);
        return;
    }
    if ((uint32_t) slot >= asps_step_users(step))
        become_ghost(spank, step);
}

void asps_task_script(spank_t spank, const struct asps_step *step)
{
    asps_taskenv_script(spank, step);
}
