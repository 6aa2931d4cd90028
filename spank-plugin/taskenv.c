/* SPDX-License-Identifier: BSD-3-Clause */
/* Called in tasks, as the user. */
#include "config.h"

#include "taskenv.h"

#include "degraded.h"

#include "common/base/strbuf.h"
#include "common/base/tres.h"

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

static void set_number(spank_t spank, const char *name, uint32_t value)
{
    char text[16];

    snprintf(text, sizeof(text), "%" PRIu32, value);
    spank_setenv(spank, name, text, 1);
}

/* Keep the true value of SLURM_X as ASPEN_X. Returns whether there is one. */
static bool keep_original(spank_t spank, const char *name, char *value,
                          int size)
{
    char kept[64];

    if (spank_getenv(spank, name, value, size) != ESPANK_SUCCESS)
        return false;
    snprintf(kept, sizeof(kept), "ASPEN_%s", name + strlen("SLURM_"));
    spank_setenv(spank, kept, value, 1);
    return true;
}

static void renumber(spank_t spank, const char *name, uint32_t value)
{
    char old[64];

    if (keep_original(spank, name, old, sizeof(old)))
        set_number(spank, name, value);
}

/* A count per node, "4(x2)". */
static void shrink_list(spank_t spank, const char *name, uint32_t ghosts)
{
    char *old = malloc(LIST_MAX), *new = malloc(LIST_MAX);

    if (old != NULL && new != NULL &&
        keep_original(spank, name, old, LIST_MAX) &&
        asp_counts_less(old, ghosts, new, LIST_MAX) > 0)
        spank_setenv(spank, name, new, 1);
    free(old);
    free(new);
}

/* SLURM_GTIDS: the global ids on this node. */
static void renumber_gtids(spank_t spank, const struct asps_step *step)
{
    char *list = malloc(LIST_MAX);
    struct asp_strbuf sb;

    if (list == NULL || !keep_original(spank, "SLURM_GTIDS", list, LIST_MAX))
        goto out;
    sb = asp_strbuf_on(list, LIST_MAX);
    for (uint32_t i = 0; i < asps_step_users(step); i++)
        asp_strbuf_add(&sb, "%s%" PRIu32, i ? "," : "", step->ranks_user[i]);
    if (!sb.cut)
        spank_setenv(spank, "SLURM_GTIDS", list, 1);
out:
    free(list);
}

/* Programs and scripts read these; they must find the user tasks only. */
static void count_users(spank_t spank, const struct asps_step *step,
                        uint32_t slot)
{
    uint32_t users = step->ntasks - step->spec.ghosts * step->nnodes;
    uint32_t per_node;
    char text[64];

    renumber(spank, "SLURM_NTASKS", users);
    renumber(spank, "SLURM_NPROCS", users);
    renumber(spank, "SLURM_STEP_NUM_TASKS", users);
    shrink_list(spank, "SLURM_TASKS_PER_NODE", step->spec.ghosts);
    shrink_list(spank, "SLURM_STEP_TASKS_PER_NODE", step->spec.ghosts);
    if (spank_getenv(spank, "SLURM_NTASKS_PER_NODE", text, sizeof(text)) ==
        ESPANK_SUCCESS) {
        per_node = (uint32_t) strtoul(text, NULL, 10);
        if (per_node > step->spec.ghosts)
            renumber(spank, "SLURM_NTASKS_PER_NODE",
                     per_node - step->spec.ghosts);
    }
    if (!step->has_ranks_user)
        return;
    renumber(spank, "SLURM_PROCID", step->ranks_user[slot]);
    renumber_gtids(spank, step);
}

/* The same of what Slurm also writes -c into, from 23.11 on. */
static void count_tres(spank_t spank, const struct asps_cpus *cpus)
{
    static const char name[] = "SLURM_TRES_PER_TASK";
    char old[1024], new[1024];
    bool others;

    if (spank_getenv(spank, name, old, sizeof(old)) != ESPANK_SUCCESS ||
        asp_tres_cpus(old, &others) != cpus->total ||
        asp_tres_set_cpus(old, cpus->user, new, sizeof(new)) < 0)
        return;
    if (new[0] != '\0')
        spank_setenv(spank, name, new, 1);
    else
        spank_unsetenv(spank, name);
}

/* -c as the user gave it, where the value is the one that the growth made. */
static bool count_cpus(spank_t spank, const struct asps_cpus *cpus)
{
    static const char name[] = "SLURM_CPUS_PER_TASK";
    char text[64];

    if (cpus->total == 0 ||
        spank_getenv(spank, name, text, sizeof(text)) != ESPANK_SUCCESS ||
        strtoul(text, NULL, 10) != cpus->total)
        return false;
    count_tres(spank, cpus);
    if (cpus->user)
        set_number(spank, name, cpus->user);
    else
        spank_unsetenv(spank, name);
    return true;
}

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
        set_number(spank, "ASPEN_BOARD_FD", (uint32_t) step->board_fd);
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
    static const char *const ours[] = {"ASPEN_LAYOUT", "ASPEN_ROLE",
                                       "ASPEN_LOCAL", "ASPEN_BOARD_FD"};

    for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
        spank_unsetenv(spank, ours[i]);
}

/* What makes the dynamic linker or the C library work otherwise. */
static bool is_of_loader(const char *variable)
{
    static const char *const names[] = {"LD_", "GLIBC_TUNABLES=", "MALLOC_"};

    if (strncmp(variable, "LD_LIBRARY_PATH=", 16) == 0)
        return false;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strncmp(variable, names[i], strlen(names[i])) == 0)
            return true;
    return false;
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
        if (!is_of_loader(all[at]) || strchr(all[at], '=') == NULL)
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
