/* SPDX-License-Identifier: BSD-3-Clause */
/* Board, CPUs and environment of a task, as spank-plugin/task.c and taskenv.c
 * make them under the plugin. */
#include "config.h"

#include "task.h"

#include "tools/base/installed.h"

#include "common/base/strbuf.h"
#include "common/base/words.h"
#include "common/board.h"
#include "common/task_vars.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the environment of this process ------------------------------------------- */

static bool get_variable(void *owner, const char *name, char *buf, size_t size)
{
    const char *value = getenv(name);

    (void) owner;
    return value && (size_t) snprintf(buf, size, "%s", value) < size;
}

static void set_variable(void *owner, const char *name, const char *value)
{
    (void) owner;
    setenv(name, value, 1);
}

static void unset_variable(void *owner, const char *name)
{
    (void) owner;
    unsetenv(name);
}

static const struct asp_environment own = {get_variable, set_variable,
                                           unset_variable, NULL};

static void count_users(const struct aspt_task *task)
{
    const struct aspt_place *place = &task->place;
    struct asp_task_counts counts = {
        .ghosts = task->spec.ghosts,
        .ntasks = place->ntasks,
        .nnodes = place->nnodes,
        .nlocal = place->nlocal,
        .local = place->local,
    };
    uint32_t ranks[ASP_TASKS_MAX];

    if (task->spec.ghosts == 0)
        return;
    if (aspt_place_user_ranks(place, task->spec.ghosts, ranks) == 0)
        counts.ranks_user = ranks;
    asp_task_vars_renumber(&own, &counts, place->slurm);
}

/* "2+3": -c as the user gave it, and what was made of it. */
static void count_cpus(const char *cpus)
{
    uint32_t user, total;

    if (asp_take_number(&cpus, ASP_RANKS_MAX, &user) < 0 || *cpus++ != '+' ||
        asp_parse_number(cpus, ASP_RANKS_MAX, &total) < 0)
        return;
    asp_task_vars_number(&own, "ASPEN_CPUS_PER_TASK", total);
    (void) asp_task_vars_cpus(&own, user, total);
}

/* ---- libraries ------------------------------------------------------------------ */

/* Ours first, then what the user has.
 *   heap  jobs that do not ask for it keep their malloc untouched */
static int set_preload(bool heap, struct asp_err *err)
{
    struct asp_strbuf value = ASP_STRBUF_GROWING;
    const char *before = getenv("LD_PRELOAD");
    char path[PATH_MAX], *text;
    int rc = -1;

    aspt_installed(ASPT_FILE_RUNTIME, path);
    asp_strbuf_add(&value, "%s", path);
    aspt_installed(ASPT_FILE_HEAP, path);
    if (heap)
        asp_strbuf_add(&value, ":%s", path);
    if (before && *before)
        asp_strbuf_add(&value, ":%s", before);
    text = asp_strbuf_take(&value);
    if (text)
        rc = setenv("LD_PRELOAD", text, 1);
    free(text);
    return rc == 0 ? 0 : asp_errf(err, errno, "cannot set LD_PRELOAD");
}

/* A ghost runs without the program's preloads; one may be named for it. */
static int clear_loader(struct asp_err *err)
{
    const char *named = getenv("ASPEN_GHOST_PRELOAD");
    char **at = environ;

    while (at && *at) {
        char *name = strndup(*at, strcspn(*at, "="));
        bool ours = asp_is_of_loader(*at);

        if (!name || (ours && unsetenv(name) < 0)) {
            free(name);
            return asp_errf(err, ENOMEM, "no memory for a ghost");
        }
        at += !ours; /* unsetenv() moved the others down */
        free(name);
    }
    return named && setenv("LD_PRELOAD", named, 1) < 0
               ? asp_errf(err, ENOMEM, "no memory for a ghost")
               : 0;
}

/* ---- the process ----------------------------------------------------------------- */

/* The launcher's own affinity comes first; the plan is within it. A task that
 * cannot be bound still computes the right thing, so it is told and goes on. */
static void bind_cpus(const struct aspt_task *task,
                      const struct asp_layout *layout)
{
    uint32_t local = task->place.local;
    const struct asp_cpuset *cpus = local < layout->ntasks
                                        ? &layout->tasks[local].cpus
                                        : NULL;
    cpu_set_t set;

    if (!layout->bound || !cpus || asp_cpuset_count(cpus) == 0)
        return;
    CPU_ZERO(&set);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (asp_cpuset_has(cpus, (unsigned) cpu))
            CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof(set), &set) < 0)
        aspt_task_say("%s: local task %" PRIu32 " cannot be bound: %s",
                      task->place.nodename, local, strerror(errno));
}

static int enter_board(const struct aspt_task *task, int board,
                       struct asp_err *err)
{
    if (board < 0)
        return 0; /* mode off */
    if (asp_board_enter(board, task->place.nlocal, task->place.local) < 0 ||
        fcntl(board, F_SETFD, 0) < 0)
        return asp_errf(err, errno, "cannot enter the board of tasks: %s",
                        strerror(errno));
    asp_task_vars_number(&own, ASP_BOARD_FD_ENV, (uint32_t) board);
    return 0;
}

static void set_report(const char *report)
{
    if (*report)
        setenv("ASPEN_REPORT", report, 1);
    else
        unsetenv("ASPEN_REPORT");
}

int aspt_task_enter(const struct aspt_task *task,
                    const struct aspt_decision *decision, struct asp_err *err)
{
    struct asp_layout *layout = NULL;
    bool heap;

    if (!decision->text ||
        asp_layout_decode(decision->text, strlen(decision->text), &layout,
                          err) < 0)
        return -1;
    heap = layout->knobs.heap == ASP_HEAP_SHARED;
    bind_cpus(task, layout);
    asp_layout_destroy(layout);
    if (enter_board(task, decision->board, err) < 0)
        return -1;
    setenv("ASPEN_LAYOUT", decision->text, 1);
    asp_task_vars_number(&own, "ASPEN_LOCAL", task->place.local);
    setenv("ASPEN_ROLE", aspt_task_is_ghost(task) ? "ghost" : "user", 1);
    set_report(task->arguments.report);
    if (aspt_task_is_ghost(task))
        return clear_loader(err);
    count_cpus(task->arguments.cpus);
    count_users(task);
    return set_preload(heap, err);
}

void aspt_task_clear(void)
{
    asp_task_vars_clear(&own);
}
