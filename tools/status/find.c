/* SPDX-License-Identifier: BSD-3-Clause */
/* The steps of a job on this node, by the environment of their processes:
 * Slurm sets SLURM_JOB_ID and SLURM_STEP_ID, the plugin ASPEN_LAYOUT,
 * ASPEN_LOCAL and ASPEN_BOARD_FD. Called by status.c. */
#include "config.h"

#include "status.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* An environment is no larger than the limit on arguments, a quarter of the
 * stack's; what is behind the first 4 MiB is not looked at. */
enum { ENV_MAX = 4 << 20, CMDLINE_MAX = 256 };

/* A number that fills the text; UINT32_MAX when it is none. */
static uint32_t number(const char *text)
{
    unsigned long value;
    char *end;

    if (!text || *text < '0' || *text > '9')
        return UINT32_MAX;
    errno = 0;
    value = strtoul(text, &end, 10);
    return *end || errno || value >= UINT32_MAX ? UINT32_MAX : (uint32_t) value;
}

/* slurmstepd writes "slurmstepd: [1234.0]" over its command line, for all to
 * see. */
static bool is_stepd(pid_t pid, uint32_t job)
{
    char start[64];
    size_t len, n;
    char *text = aspt_proc_read(pid, "cmdline", CMDLINE_MAX, &len);
    bool found;

    n = (size_t) snprintf(start, sizeof(start), "slurmstepd: [%" PRIu32 ".",
                          job);
    found = text && strncmp(text, start, n) == 0;
    free(text);
    return found;
}

/* As Slurm calls a step; its numbers from 0xfffffff0 on are names. */
static void step_name(const char *id, char name[ASPT_STEP_NAME_MAX])
{
    uint32_t value = number(id);

    if (value == UINT32_C(0xfffffffa))
        strcpy(name, "interactive");
    else if (value >= UINT32_C(0xfffffff0))
        strcpy(name, "batch");
    else
        snprintf(name, ASPT_STEP_NAME_MAX, "%" PRIu32, value);
}

static struct aspt_step *get_step(struct aspt_found *found, const char *name,
                                  const char *node)
{
    struct aspt_step *steps;

    for (size_t s = 0; s < found->nsteps; s++)
        if (strcmp(found->steps[s].name, name) == 0 &&
            strcmp(found->steps[s].node, node) == 0)
            return &found->steps[s];
    steps = realloc(found->steps, (found->nsteps + 1) * sizeof(*steps));
    if (!steps)
        return NULL;
    found->steps = steps;
    steps = &steps[found->nsteps++];
    memset(steps, 0, sizeof(*steps));
    snprintf(steps->name, sizeof(steps->name), "%s", name);
    snprintf(steps->node, sizeof(steps->node), "%s", node);
    return steps;
}

static int add_member(struct aspt_step *step, pid_t pid, const char *env,
                      size_t len)
{
    const char *layout = aspt_proc_env(env, len, "ASPEN_LAYOUT");
    uint32_t board = number(aspt_proc_env(env, len, ASP_BOARD_FD_ENV));
    struct aspt_member *members;

    if (layout && !step->layout)
        step->broken = asp_layout_decode(layout, strlen(layout), &step->layout,
                                         NULL) < 0;
    members = realloc(step->members, (step->nmembers + 1) * sizeof(*members));
    if (!members)
        return -1;
    step->members = members;
    step->members[step->nmembers++] = (struct aspt_member){
        .pid = pid,
        .local = number(aspt_proc_env(env, len, "ASPEN_LOCAL")),
        .board_fd = board > INT32_MAX ? -1 : (int) board,
    };
    return 0;
}

/* Returns 0, also for a process that is not of the job; -1 without memory. */
static int look_at(pid_t pid, uint32_t job, struct aspt_found *found)
{
    char name[ASPT_STEP_NAME_MAX];
    struct aspt_step *step;
    const char *node;
    size_t len;
    char *env;
    int rc = 0;

    if (is_stepd(pid, job)) {
        found->foreign = true;
        return 0;
    }
    if (pid == getpid() || !aspt_proc_mine(pid))
        return 0;
    env = aspt_proc_read(pid, "environ", ENV_MAX, &len);
    if (!env || number(aspt_proc_env(env, len, "SLURM_JOB_ID")) != job)
        goto out;
    step_name(aspt_proc_env(env, len, "SLURM_STEP_ID"), name);
    node = aspt_proc_env(env, len, "SLURMD_NODENAME");
    step = get_step(found, name, node ? node : "");
    rc = step ? add_member(step, pid, env, len) : -1;
out:
    free(env);
    return rc;
}

static int by_name(const void *a, const void *b)
{
    const struct aspt_step *left = a, *right = b;
    uint32_t n = number(left->name), m = number(right->name);
    int nodes = strcmp(left->node, right->node);

    if (n != m)
        return (n > m) - (n < m);
    return nodes ? nodes : strcmp(left->name, right->name);
}

int aspt_find(uint32_t job, struct aspt_found *found, struct asp_err *err)
{
    DIR *folder = opendir("/proc");
    struct dirent *entry;
    int rc = 0;

    *found = (struct aspt_found){0};
    if (!folder)
        return asp_errf(err, errno, "cannot read /proc: %s", strerror(errno));
    while (rc == 0 && (entry = readdir(folder))) {
        uint32_t pid = number(entry->d_name);

        if (pid && pid <= INT32_MAX)
            rc = look_at((pid_t) pid, job, found);
    }
    closedir(folder);
    if (found->nsteps)
        qsort(found->steps, found->nsteps, sizeof(*found->steps), by_name);
    return rc == 0 ? 0 : asp_errf(err, ENOMEM, "out of memory");
}

void aspt_found_clear(struct aspt_found *found)
{
    for (size_t s = 0; s < found->nsteps; s++) {
        asp_layout_destroy(found->steps[s].layout);
        free(found->steps[s].members);
    }
    free(found->steps);
    *found = (struct aspt_found){0};
}
