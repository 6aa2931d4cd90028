/* SPDX-License-Identifier: BSD-3-Clause */
/* Called in tasks, as the user. */
#include "config.h"

#include "taskenv.h"

#include "degraded.h"

#include "common/base/taskmap.h"
#include "common/board.h"
#include "common/task_vars.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LIST_MAX = 16384,
    PATH_BYTES = 4096,
    VARIABLE_MAX = 131072, /* Linux executes nothing with a longer one */
};

/* ---- the environment, as Slurm gives it --------------------------------------- */

static bool get_variable(void *spank, const char *name, char *buf, size_t size)
{
    return spank_getenv(spank, name, buf, (int) size) == ESPANK_SUCCESS;
}

static void set_variable(void *spank, const char *name, const char *value)
{
    spank_setenv(spank, name, value, 1);
}

static void unset_variable(void *spank, const char *name)
{
    spank_unsetenv(spank, name);
}

static struct asp_environment environment_of(spank_t spank)
{
    return (struct asp_environment){get_variable, set_variable, unset_variable,
                                    spank};
}

static void set_number(spank_t spank, const char *name, uint32_t value)
{
    struct asp_environment env = environment_of(spank);

    asp_task_vars_number(&env, name, value);
}

static void count_users(spank_t spank, const struct asps_step *step,
                        uint32_t slot)
{
    struct asp_environment env = environment_of(spank);

    asp_task_vars_renumber(
        &env,
        &(struct asp_task_counts){
            .ghosts = step->spec.ghosts,
            .ntasks = step->ntasks,
            .nnodes = step->nnodes,
            .nlocal = step->nlocal,
            .local = slot,
            .ranks_user = step->has_ranks_user ? step->ranks_user : NULL,
        },
        true);
}

static bool count_cpus(spank_t spank, const struct asps_cpus *cpus)
{
    struct asp_environment env = environment_of(spank);

    return asp_task_vars_cpus(&env, cpus->user, cpus->total);
}

/* ---- libraries and layout ----------------------------------------------------- */

/* Ours first, then what the user has.
 *   heap  libaspenheap.so, or "" in jobs that do not ask for it: they keep
 *         their malloc untouched */
static int set_preload(spank_t spank, const char *runtime, const char *heap)
{
    const size_t size = VARIABLE_MAX + 2 * PATH_BYTES;
    char *value = malloc(size);
    size_t len;
    spank_err_t rc;

    if (value == NULL) {
        errno = ENOMEM;
        return -1;
    }
    len = (size_t) snprintf(value, 2 * PATH_BYTES, "%s%s%s", runtime,
                            heap[0] != '\0' ? ":" : "", heap);
    if (len < 2 * PATH_BYTES - 1)
        rc = spank_getenv(spank, "LD_PRELOAD", value + len + 1, VARIABLE_MAX);
    else
        rc = ESPANK_NOSPACE;
    if (rc == ESPANK_SUCCESS && value[len + 1] != '\0')
        value[len] = ':';
    if (rc != ESPANK_NOSPACE)
        rc = spank_setenv(spank, "LD_PRELOAD", value, 1);
    free(value);
    if (rc == ESPANK_SUCCESS)
        return 0;
    errno = E2BIG;
    return -1;
}

/* What the agent resolved of the policy's `heap`. */
static bool wants_heap(const struct asps_answer_task *task)
{
    const char *heap = task != NULL ? asps_answer_getenv(task, "ASPEN_HEAP")
                                    : NULL;

    return heap != NULL && strcmp(heap, "shared") == 0;
}

/* Names were checked. OpenMP settings that the user made stay. */
static void set_block(spank_t spank, const char *env, size_t bytes)
{
    char name[256];

    for (size_t at = 0; at < bytes; at += strlen(env + at) + 1) {
        const char *text = env + at;
        size_t len = strcspn(text, "=");

        if (len >= sizeof(name))
            continue;
        memcpy(name, text, len);
        name[len] = '\0';
        spank_setenv(spank, name, text + len + 1,
                     strncmp(name, "OMP_", 4) != 0);
    }
}

/* The agent's blocks: what all tasks get, and this one's. */
static void set_answer(spank_t spank, const struct asps_answer_task *task)
{
    set_block(spank, task->shared, task->shared_bytes);
    set_block(spank, task->env, task->env_bytes);
}

static int set_layout(spank_t spank, const struct asps_step *step,
                      const struct asps_answer_task *task)
{
    char *degraded;

    if (task != NULL)
        set_answer(spank, task);
    if (task != NULL && asps_answer_getenv(task, "ASPEN_LAYOUT") != NULL)
        return 0;
    degraded = asps_degraded_layout(step);
    if (degraded == NULL)
        return -1;
    spank_setenv(spank, "ASPEN_LAYOUT", degraded, 1);
    free(degraded);
    return 0;
}

int asps_taskenv_set(spank_t spank, const struct asps_step *step, uint32_t slot,
                     const struct asps_answer_task *task)
{
    bool ghost = slot >= asps_step_users(step);
    char *report = malloc(PATH_BYTES);

    if (report == NULL || set_layout(spank, step, task) < 0)
        goto err;
    set_number(spank, "ASPEN_LOCAL", slot);
    if (step->board_fd >= 0)
        set_number(spank, ASP_BOARD_FD_ENV, (uint32_t) step->board_fd);
    spank_setenv(spank, "ASPEN_ROLE", ghost ? "ghost" : "user", 1);
    if (spank_getenv(spank, ASPS_REPORT_ENV, report, PATH_BYTES) ==
        ESPANK_SUCCESS)
        spank_setenv(spank, "ASPEN_REPORT", report, 1);
    else
        spank_unsetenv(spank, "ASPEN_REPORT");
    free(report);
    /* A step that the program starts itself is to ask for itself. */
    spank_unsetenv(spank, ASPS_REQUEST_ENV);
    spank_unsetenv(spank, ASPS_REPORT_ENV);
    spank_unsetenv(spank, ASPS_CPUS_ENV);
    spank_unsetenv(spank, ASPS_ADDED_ENV);
    if (ghost)
        return 0;
    if (count_cpus(spank, &step->cpus))
        set_number(spank, "ASPEN_CPUS_PER_TASK", step->cpus.total);
    if (step->spec.ghosts > 0)
        count_users(spank, step, slot);
    return set_preload(spank, step->settings.runtime,
                       wants_heap(task) ? step->settings.heap : "");
err:
    free(report);
    errno = ENOMEM;
    return -1;
}

void asps_taskenv_clear(spank_t spank)
{
    struct asp_environment env = environment_of(spank);

    asp_task_vars_clear(&env);
}

/* A ghost runs without the program's preloads; one may be named for it. */
static int set_ghost_preload(spank_t spank, const struct asps_step *step)
{
    char *value = malloc(PATH_BYTES);

    if (value == NULL)
        return -1;
    if (spank_getenv(spank, "ASPEN_GHOST_PRELOAD", value, PATH_BYTES) ==
        ESPANK_SUCCESS)
        spank_setenv(spank, "LD_PRELOAD", value, 1);
    else if (step->settings.ghost_preload != NULL)
        spank_setenv(spank, "LD_PRELOAD", step->settings.ghost_preload, 1);
    free(value);
    return 0;
}

/* Take "NAME=value" out. */
static int unset(spank_t spank, const char *variable)
{
    char *name = strndup(variable, strcspn(variable, "="));

    if (name == NULL)
        return -1;
    spank_unsetenv(spank, name);
    free(name);
    return 0;
}

int asps_taskenv_ghost(spank_t spank, const struct asps_step *step)
{
    char **all = NULL;
    size_t n = 0, at = 0;

    if (spank_get_item(spank, S_JOB_ENV, &all) != ESPANK_SUCCESS || all == NULL)
        return -1;
    while (all[n] != NULL)
        n++;
    /* Each turn passes one variable or takes one out of the array. */
    for (; n > 0 && all[at] != NULL; n--) {
        if (!asp_is_of_loader(all[at]) || strchr(all[at], '=') == NULL)
            at++;
        else if (unset(spank, all[at]) < 0)
            return -1;
    }
    return set_ghost_preload(spank, step);
}

/* Only where the value is the one that the growth made. */
static void script_number(spank_t spank, const char *name, uint32_t from,
                          uint32_t to)
{
    char text[64];

    if (spank_getenv(spank, name, text, sizeof(text)) == ESPANK_SUCCESS &&
        strtoul(text, NULL, 10) == from)
        set_number(spank, name, to);
}

/* The counts of tasks. */
static void script_tasks(spank_t spank, const struct asps_grown *grown)
{
    char *list = malloc(LIST_MAX), *less = malloc(LIST_MAX);

    script_number(spank, "SLURM_NTASKS", grown->tasks, grown->users);
    script_number(spank, "SLURM_NPROCS", grown->tasks, grown->users);
    if (grown->per_node)
        script_number(spank, "SLURM_NTASKS_PER_NODE", grown->per_node,
                      grown->per_node - grown->ghosts);
    if (grown->plane)
        script_number(spank, "SLURM_DIST_PLANESIZE",
                      grown->plane + grown->ghosts, grown->plane);
    if (list != NULL && less != NULL &&
        spank_getenv(spank, "SLURM_TASKS_PER_NODE", list, LIST_MAX) ==
            ESPANK_SUCCESS &&
        asp_counts_less(list, grown->ghosts, less, LIST_MAX) > 0)
        spank_setenv(spank, "SLURM_TASKS_PER_NODE", less, 1);
    free(list);
    free(less);
}

void asps_taskenv_script(spank_t spank, const struct asps_step *step)
{
    if (step->grown.tasks)
        script_tasks(spank, &step->grown);
    count_cpus(spank, &step->cpus);
    spank_unsetenv(spank, ASPS_GROWN_ENV);
    spank_unsetenv(spank, ASPS_REQUEST_ENV);
    spank_unsetenv(spank, ASPS_REPORT_ENV);
}
