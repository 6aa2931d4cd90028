/* SPDX-License-Identifier: BSD-3-Clause */
/* Layout fetch, see layout_fetch.h.
 *
 * ASPEN_LAYOUT is the only source: it came through slurmstepd, where no other
 * user can write. A PMIx server is never asked, for a client cannot tell whose
 * server it is: when the agent is gone, its port on the loopback interface is
 * free for anybody. Under srun --mpi=pmix the server is Slurm's and does not
 * know us: then the layout is Put there, for tools.
 *
 * ASPEN_LOCAL and ASPEN_PICK (path of the program that does that) come from the
 * agent, PMIX_* from Slurm: those of the agent's own server are ASPEN_PMIX_*.
 */
#include "config.h"

#include "layout_fetch.h"
#include "pmix_child.h"

#include "runtime/base/log.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* What the environment says; strings are borrowed from it or NULL. */
struct source {
    const char *layout;
    const char *local;
    const char *role;
    const char *putter;
    bool started_by_pmix; /* there is a PMIx server beside ours */
};

static void read_environment(struct source *source)
{
    source->layout = getenv("ASPEN_LAYOUT");
    source->local = getenv("ASPEN_LOCAL");
    source->role = getenv("ASPEN_ROLE");
    source->putter = getenv("ASPEN_PICK");
    source->started_by_pmix = getenv("PMIX_NAMESPACE") != NULL;
}

static int parse_index(const char *text, uint32_t *out_p)
{
    unsigned long value;
    char *end;

    if (text == NULL || *text < '0' || *text > '9')
        return -1;
    errno = 0;
    value = strtoul(text, &end, 10);
    if (errno != 0 || *end != '\0' || value >= ASP_RANK_NONE)
        return -1;
    *out_p = (uint32_t) value;
    return 0;
}

/* A task that the plugin gave a role is part of a step with ghosts in it: it
 * must not take Slurm's ranks for its own. */
static int no_layout(const struct source *source, struct asp_err *err)
{
    if (source->role == NULL)
        return asp_errf(err, ENOENT, "no layout");
    return asp_errf(err, EINVAL,
                    "this task is a %.20s of its step, but ASPEN_LAYOUT, the "
                    "step's layout, is not set",
                    source->role);
}

/* Make the layout of one node that of another node of the same step: for runs
 * without Slurm, where one ASPEN_LAYOUT is given to all. CPUs are the other
 * node's business and not known here. Returns 0, or -1 with errno. */
static int rehome(struct asp_layout *layout, uint32_t node, struct asp_err *err)
{
    const struct asp_layout_node *home = &layout->nodes[node];
    uint32_t users = home->ntasks - layout->ghosts_per_node;
    struct asp_layout_task *tasks;

    if (home->ntasks < layout->ghosts_per_node)
        return asp_errf(err, EINVAL, "node %u has fewer tasks than ghosts",
                        (unsigned) node);
    tasks = calloc(home->ntasks, sizeof(*tasks));
    if (tasks == NULL)
        return asp_errf(err, ENOMEM, "out of memory for the layout");
    for (uint32_t p = 0; p < home->ntasks; p++) {
        struct asp_layout_task *task = &tasks[p];

        task->rank_world = home->ranks_world[p];
        task->ghost = ASP_RANK_NONE;
        asp_layout_role(layout, task->rank_world, &task->role,
                        &task->rank_user);
        if (task->role == ASP_ROLE_GHOST)
            task->rank_user = ASP_RANK_NONE;
        else if (layout->ghosts_per_node > 0)
            task->ghost =
                home->ranks_world[users + (uint64_t) p *
                                              layout->ghosts_per_node / users];
        task->numa = -1;
        task->cpu_helper_os = -1;
    }
    free(layout->tasks);
    layout->tasks = tasks;
    layout->ntasks = home->ntasks;
    layout->node = node;
    layout->bound = false;
    return 0;
}

static int find_rank(struct asp_layout *layout, uint32_t rank,
                     uint32_t *local_p, struct asp_err *err)
{
    for (uint32_t n = 0; layout->nodes != NULL && n < layout->nnodes; n++) {
        const struct asp_layout_node *node = &layout->nodes[n];

        for (uint32_t p = 0; p < node->ntasks; p++) {
            if (node->ranks_world[p] != rank)
                continue;
            if (n != layout->node && rehome(layout, n, err) < 0)
                return -1;
            *local_p = p;
            return 0;
        }
    }
    return asp_errf(err, EINVAL, "rank %u is not in the layout",
                    (unsigned) rank);
}

/* By the plugin's word, else by the rank that the launcher gave. */
static int find_self(const struct source *source, struct asp_layout *layout,
                     uint32_t *local_p, struct asp_err *err)
{
    uint32_t index;

    if (source->local != NULL) {
        if (parse_index(source->local, &index) < 0 || index >= layout->ntasks)
            return asp_errf(err, EINVAL,
                            "ASPEN_LOCAL is \"%.40s\" but the layout has %u "
                            "tasks on this node",
                            source->local, (unsigned) layout->ntasks);
        *local_p = index;
        return 0;
    }
    if (parse_index(getenv("PMI_RANK"), &index) < 0)
        return asp_errf(err, EINVAL,
                        "a layout, but neither ASPEN_LOCAL nor PMI_RANK says "
                        "which of its tasks this is");
    return find_rank(layout, index, local_p, err);
}

/* Slurm, a wrapper script or taskset may have had the last word on CPUs.
 * Nothing is repaired: the user may mean it. */
static void check_mask(const struct asp_layout *layout, uint32_t local)
{
    const struct asp_cpuset *plan = &layout->tasks[local].cpus;
    struct asp_cpuset real = {{0}};
    char plan_text[1024];
    char real_text[1024];
    cpu_set_t mask;

    if (!layout->bound || asp_cpuset_count(plan) == 0)
        return;
    if (sched_getaffinity(0, sizeof(mask), &mask) < 0)
        return;
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &mask))
            asp_cpuset_add(&real, cpu);
    if (memcmp(plan, &real, sizeof(real)) == 0)
        return;
    if (asp_cpuset_print(plan, plan_text, sizeof(plan_text)) < 0 ||
        asp_cpuset_print(&real, real_text, sizeof(real_text)) < 0)
        return;
    aspx_log(ASPX_LOG_WARNING,
             "task %u (%s) runs on CPUs %s, but the layout gives it %s: "
             "something after Aspen changed its CPU mask",
             (unsigned) local, asp_role_name(layout->tasks[local].role),
             real_text, plan_text);
}

int aspx_layout_fetch(struct asp_layout **out_p, uint32_t *local_p,
                      struct asp_err *err)
{
    struct asp_layout *layout = NULL;
    struct source source;
    uint32_t local = 0;

    read_environment(&source);
    if (source.layout == NULL)
        return no_layout(&source, err);
    if (asp_layout_decode(source.layout, strlen(source.layout), &layout, err) <
        0)
        return -1;
    if (find_self(&source, layout, &local, err) < 0) {
        int saved = errno;

        asp_layout_destroy(layout);
        errno = saved;
        return -1;
    }
    if (source.started_by_pmix && source.putter != NULL)
        aspx_child_put(source.putter, source.layout, ASPX_PUT_TIMEOUT_MS);
    check_mask(layout, local);
    *local_p = local;
    *out_p = layout;
    return 0;
}
