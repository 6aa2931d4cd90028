/* SPDX-License-Identifier: BSD-3-Clause */
/* Board, CPUs and environment of a task, as spank-plugin/task.c and taskenv.c
 * make them under the plugin. */
#include "config.h"

#include "task.h"

#include "tools/base/installed.h"

#include "common/base/strbuf.h"
#include "common/base/taskmap.h"
#include "common/base/tres.h"
#include "common/base/words.h"
#include "common/board.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LIST_MAX = 16384, TRES_MAX = 1024 };

static void set_number(const char *name, uint32_t value)
{
    char text[16];

    snprintf(text, sizeof(text), "%" PRIu32, value);
    setenv(name, text, 1);
}

/* ---- counts of users ------------------------------------------------------------
 * Programs and scripts read these; they must find the user tasks only. The true
 * value of SLURM_X stays as ASPEN_X. */

static const char *keep_original(const char *name)
{
    const char *value = getenv(name);
    char kept[64];

    if (!value)
        return NULL;
    snprintf(kept, sizeof(kept), "ASPEN_%s", strchr(name, '_') + 1);
    setenv(kept, value, 1);
    return value;
}

static void renumber(const char *name, uint32_t value)
{
    if (keep_original(name))
        set_number(name, value);
}

/* A count per node, "4(x2)". */
static void shrink_list(const char *name, uint32_t ghosts)
{
    const char *old = keep_original(name);
    char less[LIST_MAX];

    if (old && asp_counts_less(old, ghosts, less, sizeof(less)) > 0)
        setenv(name, less, 1);
}

/* The ids on this node, and this task's own. */
static void renumber_ids(const struct aspt_task *task)
{
    const struct aspt_place *place = &task->place;
    uint32_t users = place->nlocal - task->spec.ghosts;
    uint32_t ranks[ASP_TASKS_MAX];
    char list[LIST_MAX];
    struct asp_strbuf text = ASP_STRBUF(list);

    if (aspt_place_user_ranks(place, task->spec.ghosts, ranks) < 0)
        return;
    renumber("SLURM_PROCID", ranks[place->local]);
    for (uint32_t i = 0; i < users; i++)
        asp_strbuf_add(&text, "%s%" PRIu32, i ? "," : "", ranks[i]);
    if (keep_original("SLURM_GTIDS") && !text.cut)
        setenv("SLURM_GTIDS", list, 1);
}

static void count_in_slurm(const struct aspt_task *task)
{
    uint32_t ghosts = task->spec.ghosts, per_node;
    uint32_t users = task->place.ntasks - ghosts * task->place.nnodes;
    const char *text = getenv("SLURM_NTASKS_PER_NODE");

    renumber("SLURM_NTASKS", users);
    renumber("SLURM_NPROCS", users);
    renumber("SLURM_STEP_NUM_TASKS", users);
    shrink_list("SLURM_TASKS_PER_NODE", ghosts);
    shrink_list("SLURM_STEP_TASKS_PER_NODE", ghosts);
    if (text && asp_parse_number(text, ASP_RANKS_MAX, &per_node) == 0 &&
        per_node > ghosts)
        renumber("SLURM_NTASKS_PER_NODE", per_node - ghosts);
    renumber_ids(task);
}

/* PMI_RANK and PMI_SIZE are MPI's own and stay. */
static void count_users(const struct aspt_task *task)
{
    if (task->spec.ghosts == 0)
        return;
    if (task->place.slurm)
        count_in_slurm(task);
    else
        renumber("MPI_LOCALNRANKS", task->place.nlocal - task->spec.ghosts);
}

/* The same of what Slurm also writes -c into, from 23.11 on. */
static void count_tres(uint32_t user, uint32_t total)
{
    static const char name[] = "SLURM_TRES_PER_TASK";
    const char *old = getenv(name);
    char new[TRES_MAX];
    bool others;

    if (!old || asp_tres_cpus(old, &others) != total ||
        asp_tres_set_cpus(old, user, new, sizeof(new)) < 0)
        return;
    if (new[0] != '\0')
        setenv(name, new, 1);
    else
        unsetenv(name);
}

/* -c as the user gave it, where the value is the one that was made of it. */
static void count_cpus(const char *cpus)
{
    static const char name[] = "SLURM_CPUS_PER_TASK";
    const char *value = getenv(name);
    uint32_t user, total;

    if (asp_take_number(&cpus, ASP_RANKS_MAX, &user) < 0 || *cpus++ != '+' ||
        asp_parse_number(cpus, ASP_RANKS_MAX, &total) < 0)
        return;
    set_number("ASPEN_CPUS_PER_TASK", total);
    if (!value || strtoul(value, NULL, 10) != total)
        return;
    count_tres(user, total);
    if (user)
        set_number(name, user);
    else
        unsetenv(name);
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

/* What makes the dynamic linker or the C library work otherwise. */
static bool is_of_loader(const char *variable)
{
    if (asp_after(variable, "LD_LIBRARY_PATH="))
        return false;
    return asp_after(variable, "LD_") ||
           asp_after(variable, "GLIBC_TUNABLES=") ||
           asp_after(variable, "MALLOC_");
}

/* A ghost runs without the program's preloads; one may be named for it. */
static int clear_loader(struct asp_err *err)
{
    const char *own = getenv("ASPEN_GHOST_PRELOAD");
    char **at = environ;

    while (at && *at) {
        char *name = strndup(*at, strcspn(*at, "="));
        bool ours = is_of_loader(*at);

        if (!name || (ours && unsetenv(name) < 0)) {
            free(name);
            return asp_errf(err, ENOMEM, "no memory for a ghost");
        }
        at += !ours; /* unsetenv() moved the others down */
        free(name);
    }
    return own && setenv("LD_PRELOAD", own, 1) < 0
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
    set_number(ASP_BOARD_FD_ENV, (uint32_t) board);
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
    heap = strcmp(asp_layout_knob(layout, "heap", ""), "shared") == 0;
    bind_cpus(task, layout);
    asp_layout_destroy(layout);
    if (enter_board(task, decision->board, err) < 0)
        return -1;
    setenv("ASPEN_LAYOUT", decision->text, 1);
    set_number("ASPEN_LOCAL", task->place.local);
    setenv("ASPEN_ROLE", aspt_task_is_ghost(task) ? "ghost" : "user", 1);
    set_report(task->handover.report);
    if (aspt_task_is_ghost(task))
        return clear_loader(err);
    count_cpus(task->handover.cpus);
    count_users(task);
    return set_preload(heap, err);
}

void aspt_task_clear(void)
{
    static const char *const ours[] = {"ASPEN_LAYOUT", "ASPEN_ROLE",
                                       "ASPEN_LOCAL", ASP_BOARD_FD_ENV};

    for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
        unsetenv(ours[i]);
}
