/* SPDX-License-Identifier: BSD-3-Clause */
/* A step as a table of its tasks; called by status.c. */
#include "config.h"

#include "status.h"

#include "tools/report/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A task, looked at twice. */
struct task {
    pid_t pid; /* 0: none */
    struct aspt_proc before, now;
};

/* In the order of enum asp_board_state. */
static const char *const rank_words[] = {
    "not started", "before MPI",  "in MPI_Init",
    "MPI is up",   "MPI is over", "aborting",
};

enum { STATES = sizeof(rank_words) / sizeof(rank_words[0]) };

static const char *process_words(const struct aspt_proc *proc)
{
    switch (proc->alive ? proc->state : 'X') {
    case 'R':
        return "running";
    case 'S':
    case 'I':
        return "sleeping";
    case 'D':
        return "in a syscall";
    case 'T':
        return "stopped";
    case 't':
        return "traced";
    case 'X':
        return "ended";
    }
    return "?";
}

/* The process of a task: whom the board names, if it is one of the step; else,
 * without a board, the first that has the task's number. */
static pid_t find_pid(const struct aspt_step *step,
                      const struct aspt_board *board, uint32_t task)
{
    pid_t pid = 0;

    for (size_t m = 0; m < step->nmembers; m++) {
        const struct aspt_member *member = &step->members[m];

        if (board->ntasks && member->pid == board->task[task].pid)
            return member->pid;
        if (!board->ntasks && member->local == task &&
            (!pid || member->pid < pid))
            pid = member->pid;
    }
    return pid;
}

static bool is_ghost(const struct asp_layout *layout, uint32_t task)
{
    return layout->tasks[task].role == ASP_ROLE_GHOST;
}

/* What a ghost does follows from where its ranks are. */
static const char *ghost_words(const struct aspt_step *step,
                               const struct aspt_board *board, uint32_t task)
{
    bool up = false, init = false, left = true;

    if (board->task[task].reported & ~(uint32_t) ASP_REPORTED_PARKED)
        return "does not move";
    for (uint32_t t = 0; t < step->layout->ntasks; t++) {
        uint32_t state = board->task[t].state;

        if (is_ghost(step->layout, t))
            continue;
        up |= state == ASP_TASK_RUNNING;
        init |= state == ASP_TASK_INIT;
        left &= state >= ASP_TASK_FINALIZED;
    }
    if (board->task[task].state == ASP_TASK_FINALIZED || left)
        return "leaving";
    if (up && board->task[task].reported)
        return "parked";
    return up ? "serves" : init ? "in MPI_Init" : "awaits ranks";
}

/* Only mode ghost keeps the board, and mode off has none; in the others the
 * runtime's thread lives as long as MPI does. */
static const char *mpi_words(const struct aspt_step *step,
                             const struct aspt_board *board, uint32_t task,
                             const struct aspt_proc *proc)
{
    uint32_t state = board->task[task].state;

    if (step->layout->mode != ASP_MODE_GHOST)
        return proc->helper_s >= 0 ? rank_words[ASP_TASK_RUNNING] : "?";
    if (!board->ntasks)
        return "?";
    if (is_ghost(step->layout, task) && proc->alive)
        return ghost_words(step, board, task);
    return state < STATES ? rank_words[state] : "?";
}

static void nap(unsigned ms)
{
    const struct timespec length = {ms / 1000, ms % 1000 * 1000000L};

    nanosleep(&length, NULL);
}

static double clock_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double) now.tv_sec + (double) now.tv_nsec / 1e9;
}

/* Returns how long the two looks were apart. */
static double look_twice(struct task *tasks, uint32_t n, unsigned apart_ms)
{
    double begin = clock_s();

    for (uint32_t t = 0; t < n; t++)
        aspt_proc_look(tasks[t].pid, &tasks[t].before);
    nap(apart_ms);
    begin = clock_s() - begin;
    for (uint32_t t = 0; t < n; t++)
        aspt_proc_look(tasks[t].pid, &tasks[t].now);
    return begin;
}

/* CPUs that it uses at the moment, in percent of one. */
static double usage(const struct task *task, double apart_s)
{
    double used = task->now.living_s - task->before.living_s;

    if (!task->now.alive || !task->before.alive || used < 0)
        return 0;
    return 100 * used / apart_s;
}

static void print_safe(FILE *to, const char *text)
{
    char safe[5];

    while (*text) {
        text += aspt_safe_char(text, safe);
        fputs(safe, to);
    }
}

static void print_head(FILE *to, uint32_t job, const struct aspt_step *step)
{
    const struct asp_layout *layout = step->layout;
    uint32_t ghosts = layout->ghosts_per_node;
    char ranks[ASPT_SAY_MAX], text[ASPT_SAY_MAX] = "";

    if (ghosts)
        aspt_say_many(ghosts, "ghost", text, sizeof(text));
    fprintf(to, "job %" PRIu32 ", step %s, mode %s, node ", job, step->name,
            asp_mode_name(layout->mode));
    print_safe(to, step->node[0] ? step->node : "?");
    fprintf(
        to,
        " (%" PRIu32 " of %" PRIu32 ")\n  %s%s%s here, %" PRIu32
        " tasks in all; bound: %s%s",
        layout->node + 1, layout->nnodes,
        aspt_say_many(layout->ntasks - ghosts, "rank", ranks, sizeof(ranks)),
        ghosts ? " and " : "", text, layout->size_world,
        layout->bound ? "yes" : "no", layout->reason[0] ? ", " : "");
    print_safe(to, layout->reason);
    fputc('\n', to);
}

static bool has_thread(const struct aspt_step *step)
{
    return asp_layout_offloads(step->layout) ||
           step->layout->mode == ASP_MODE_THREAD;
}

static void print_task(FILE *to, const struct aspt_step *step,
                       const struct aspt_board *board, uint32_t t,
                       const struct task *task, double apart_s)
{
    const struct asp_layout_task *plan = &step->layout->tasks[t];
    bool ghost = is_ghost(step->layout, t);
    uint32_t rank = ghost ? plan->rank_world : plan->rank_user;
    char name[32], cpus[1024] = "", pid[16] = "-";

    if (rank == ASP_RANK_NONE)
        snprintf(name, sizeof(name), "%s", ghost ? "ghost" : "rank");
    else
        snprintf(name, sizeof(name), "%s %" PRIu32, ghost ? "ghost" : "rank",
                 rank);
    if (asp_cpuset_print(&plan->cpus, cpus, sizeof(cpus)) < 0)
        strcpy(cpus, "...");
    if (task->pid)
        snprintf(pid, sizeof(pid), "%d", (int) task->pid);
    fprintf(to, "  %4" PRIu32 "  %-10s %8s  %-13s %-12s", t, name, pid,
            mpi_words(step, board, t, &task->now), process_words(&task->now));
    if (task->now.alive)
        fprintf(to, " %7.2f s %3.0f %%", task->now.cpu_s, usage(task, apart_s));
    else
        fprintf(to, " %9s %5s", "-", "-");
    if (has_thread(step) && task->now.helper_s >= 0)
        fprintf(to, " %7.2f s", task->now.helper_s);
    else if (has_thread(step))
        fprintf(to, " %9s", "-");
    fprintf(to, "%s%s\n", cpus[0] ? "  " : "", cpus);
}

static void print_sum(FILE *to, const struct aspt_step *step,
                      const struct task *tasks, double apart_s)
{
    double so_far = 0, now = 0;

    for (uint32_t t = 0; t < step->layout->ntasks; t++)
        if (is_ghost(step->layout, t)) {
            so_far += tasks[t].now.cpu_s;
            now += usage(&tasks[t], apart_s);
        }
    if (step->layout->ghosts_per_node)
        fprintf(to,
                "  the ghosts have used %.2f s of CPU time, and use %.0f %% "
                "of a CPU now\n",
                so_far, now);
}

void aspt_status_show(FILE *to, uint32_t job, const struct aspt_step *step,
                      unsigned apart_ms)
{
    uint32_t n = step->layout->ntasks;
    struct task *tasks = calloc(n, sizeof(*tasks));
    struct aspt_board *board = malloc(sizeof(*board));
    double apart_s;

    if (!tasks || !board)
        goto out;
    aspt_board_copy(step, board);
    for (uint32_t t = 0; t < n; t++)
        tasks[t].pid = find_pid(step, board, t);
    apart_s = look_twice(tasks, n, apart_ms);
    print_head(to, job, step);
    if (!board->ntasks && step->layout->mode != ASP_MODE_OFF)
        fputs("  no process shows the board of tasks: states are not known\n",
              to);
    fprintf(to, "  task  %-10s %8s  %-13s %-12s %9s %5s%s  CPUs\n", "what",
            "pid", "MPI", "process", "CPU time", "now",
            has_thread(step) ? "    thread" : "");
    for (uint32_t t = 0; t < n; t++)
        print_task(to, step, board, t, &tasks[t], apart_s);
    print_sum(to, step, tasks, apart_s);
out:
    free(tasks);
    free(board);
}
