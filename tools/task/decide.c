/* SPDX-License-Identifier: BSD-3-Clause */
/* What the agent and slurmstepd do under the plugin: the plan of this node, or
 * roles alone where there can be none. */
#include "config.h"

#include "cpus.h"
#include "task.h"

#include "tools/base/installed.h"

#include "common/base/words.h"
#include "common/board.h"
#include "common/degraded.h"
#include "common/node/node_plan.h"

#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- what goes wrong --------------------------------------------------------- */

static char *roles_only(const struct aspt_task *task, const char *reason)
{
    const struct aspt_place *place = &task->place;
    struct asp_degraded known = {
        .job = place->job,
        .spec = task->arguments.spec,
        .mode = task->spec.mode,
        .reason = reason,
        .ghosts = task->spec.ghosts,
        .ntasks = place->ntasks,
        .nnodes = place->nnodes,
        .node = place->node,
        .nlocal = place->nlocal,
        .ranks_world = place->ranks,
    };

    return asp_degraded_layout(&known);
}

char *aspt_task_observe(const struct aspt_task *task)
{
    return roles_only(task, task->place.slurm
                                ? "mode off leaves CPUs to Slurm"
                                : "mode off leaves CPUs to mpiexec");
}

/* There is no plan: roles hold all the same, and without ghosts nothing depends
 * on us. */
static void degrade(const struct aspt_task *task, const char *reason,
                    struct aspt_decision *decision)
{
    const char *then = "the program runs without asynchronous progress";

    decision->verdict = ASPT_PLAIN;
    if (task->spec.require) {
        then = "the request says require, so the step fails";
        decision->verdict = ASPT_GIVE_UP;
    } else if (task->spec.ghosts > 0) {
        then = "the ghosts run, but without placement";
        decision->text = roles_only(task, reason);
        decision->verdict = decision->text ? ASPT_WITH_LAYOUT : ASPT_GIVE_UP;
    }
    aspt_task_say("%s: %s; %s", task->place.nodename, reason, then);
}

/* What no task can do without. With ghosts the step fails: users would wait for
 * ranks that never come. */
static void give_up(const struct aspt_task *task, const char *what,
                    const char *why, struct aspt_decision *decision)
{
    char text[PATH_MAX + 256];

    snprintf(text, sizeof(text), "%s%s", what, why);
    if (task->spec.ghosts == 0) {
        degrade(task, text, decision);
        return;
    }
    aspt_task_say("%s: %s; the step fails", task->place.nodename, text);
    decision->verdict = ASPT_GIVE_UP;
}

/* ---- what must be there ------------------------------------------------------- */

static int check_files(const struct aspt_task *task,
                       struct aspt_decision *decision)
{
    char path[PATH_MAX];

    aspt_installed(ASPT_FILE_RUNTIME, path);
    if (access(path, R_OK) == 0) {
        if (task->spec.ghosts == 0)
            return 0;
        aspt_installed(ASPT_FILE_GHOST, path);
        if (access(path, X_OK) == 0)
            return 0;
    }
    give_up(task, "Aspen must be installed on every node: no access to ", path,
            decision);
    return -1;
}

/* Every node knows the counts of all, so all fail alike, and one says why. */
static int check_counts(const struct aspt_task *task,
                        struct aspt_decision *decision)
{
    const struct aspt_place *place = &task->place;
    uint32_t ghosts = task->spec.ghosts, count = place->nlocal;
    uint32_t node = place->node;

    for (uint32_t n = 0; place->steps && n < place->nnodes && count > ghosts;
         n++) {
        count = place->steps->nodes[n].ntasks;
        node = n;
    }
    if (ghosts == 0 || count > ghosts)
        return 0;
    if (place->node == 0 || !place->steps)
        aspt_task_say("node %" PRIu32 " of %" PRIu32 " got %" PRIu32
                      " task(s), and %" PRIu32
                      " ghost(s) leave no user task there: use fewer nodes "
                      "(-N), more tasks (-n, --ntasks-per-node) or fewer "
                      "ghosts",
                      node + 1, place->nnodes, count, ghosts);
    decision->verdict = ASPT_GIVE_UP;
    return -1;
}

static int make_board(const struct aspt_task *task,
                      struct aspt_decision *decision)
{
    decision->board = asp_board_create(task->place.nlocal, task->spec.ghosts,
                                       task->place.slurm ? ASP_LAUNCHER_WAITS
                                                         : ASP_LAUNCHER_KILLS);
    if (decision->board >= 0)
        return 0;
    give_up(task, "cannot make the board of tasks: ", strerror(errno),
            decision);
    return -1;
}

/* ---- the plan ------------------------------------------------------------------ */

static const char *doubt(const struct aspt_task *task,
                         const struct asp_cpuset *cpus)
{
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    const struct aspt_cpus_known known = {
        .slurm = task->place.slurm,
        .slurm_cpus = getenv("SLURM_CPUS_ON_NODE"),
        .online = online > 0 ? (unsigned) online : 0,
    };

    return aspt_cpus_doubt(asp_cpuset_count(cpus), &known);
}

/* The machine, restricted to the CPUs that the tasks have together. Without it
 * the plan is still good for roles and ghosts; it is only not enforced. */
static struct asp_topo *load_topo(const struct aspt_task *task,
                                  const struct asp_cpuset *cpus, char *unbound,
                                  size_t size)
{
    const char *reason = task->arguments.unbound;
    struct asp_topo *topo = NULL;
    struct asp_err why = {.text = ""};

    if (asp_topo_load(NULL, cpus, &topo, &why) < 0) {
        reason = *reason ? reason : "the step's CPUs are not there";
        asp_topo_load(NULL, NULL, &topo, &why);
    }
    if (!*reason && !topo)
        reason = why.text;
    else if (!*reason)
        reason = topo->real ? doubt(task, cpus) : "pretended CPUs";
    snprintf(unbound, size, "%.200s", reason);
    return topo;
}

static const char *known(const char *text)
{
    return *text ? text : NULL;
}

static struct asp_node describe(const struct aspt_task *task)
{
    const struct aspt_task_arguments *told = &task->arguments;
    struct passwd *user = getpwuid(getuid());

    return (struct asp_node){
        .job = task->place.job,
        .spec = told->spec,
        .site_policy = told->site,
        .facts = {.partition = known(told->partition),
                  .account = known(told->account),
                  .user = user ? user->pw_name : NULL,
                  .qos = known(told->qos),
                  .program = told->program[0]},
        .ghosts = task->spec.ghosts,
        .nodes = task->place.steps->nodes,
        .nnodes = task->place.nnodes,
        .node = task->place.node,
        .cpus_grown = *told->cpus != '\0',
        .cpu_bind = told->cpu_bind,
        .threads_per_core = task->place.slurm ? getenv("SLURM_THREADS_PER_CORE")
                                              : NULL,
    };
}

static int plan_node(const struct aspt_task *task,
                     const struct asp_cpuset *cpus, struct asp_node_plan *plan,
                     struct asp_err *err)
{
    struct asp_node node = describe(task);
    struct asp_policy *policy = NULL;
    struct asp_topo *topo = NULL;
    char unbound[ASP_VALUE_MAX];
    int rc = asp_node_policy(&node, &policy, plan, err);

    if (rc == 0) {
        topo = load_topo(task, cpus, unbound, sizeof(unbound));
        rc = asp_node_layout(&node, policy, topo, unbound, plan, err);
    }
    asp_topo_destroy(topo);
    asp_policy_destroy(policy);
    return rc;
}

static void plan(struct aspt_task *task, const struct asp_cpuset *cpus,
                 struct aspt_decision *decision)
{
    struct asp_node_plan made = {.layout = NULL};
    char text[ASP_ERR_TEXT_MAX + ASP_ERR_PLACE_MAX];
    struct asp_err err;

    if (plan_node(task, cpus, &made, &err) == 0) {
        if (made.note[0] != '\0' && task->place.node == 0)
            aspt_task_say("%s", made.note);
        decision->verdict = ASPT_WITH_LAYOUT;
        decision->text = made.text;
        made.text = NULL;
    } else {
        task->spec.require = task->spec.require || made.require;
        degrade(task, asp_err_print(&err, text, sizeof(text)), decision);
    }
    asp_node_plan_clear(&made);
}

void aspt_task_decide(const struct aspt_task *task,
                      const struct aspt_meeting *meeting, const char *why,
                      struct aspt_decision *out_p)
{
    struct aspt_task own = *task; /* a site's policy may say require */

    *out_p = (struct aspt_decision){.verdict = ASPT_GIVE_UP, .board = -1};
    if (!meeting) {
        give_up(task, why, "", out_p);
        return;
    }
    if (check_counts(task, out_p) < 0 || check_files(task, out_p) < 0 ||
        make_board(task, out_p) < 0)
        return;
    if (task->place.steps)
        plan(&own, &meeting->cpus, out_p);
    else
        degrade(&own, task->place.no_steps, out_p);
}
