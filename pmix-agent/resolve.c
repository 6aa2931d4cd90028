/* SPDX-License-Identifier: BSD-3-Clause */
/* Request -> plan. Called once by main.c and explain.c. The road: site policy
 * and canonical request give knobs; Slurm's words about the step give the
 * ranks of all nodes; hwloc gives the machine; common/plan puts them together.
 *
 * Every node does this for itself and must come to the same ranks and roles;
 * the ranks are checked against what Slurm says of this node. */
#include "config.h"

#include "resolve.h"

#include "hostlist.h"

#include "common/base/request_spec.h"
#include "common/plan/plan.h"
#include "common/policy/policy.h"
#include "common/plan/step_ranks.h"
#include "common/plan/topo.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is made on the way; all owned. */
struct work {
    struct asp_policy *policy;
    struct asp_step_ranks *steps;
    struct asp_topo *topo;
    uint32_t ghosts;             /* per node, as the plugin counted them */
    char unbound[ASP_VALUE_MAX]; /* why CPUs cannot be enforced, or "" */
};

static const char *known(const char *text)
{
    return text[0] != '\0' ? text : NULL;
}

/* User tasks of the fullest node. */
static uint32_t most_users(const struct asp_step_ranks *steps, uint32_t ghosts)
{
    uint32_t most = 0;

    for (uint32_t n = 0; n < steps->nnodes; n++)
        if (steps->nodes[n].ntasks > most)
            most = steps->nodes[n].ntasks;
    return most > ghosts ? most - ghosts : 0;
}

/* The same knobs as in srun, and the site's limits once more: the request came
 * from the user's side. */
static int resolve_policy(const struct aspa_request *request, struct work *work,
                          struct asp_err *err)
{
    struct asp_facts facts = {
        .partition = known(request->partition),
        .account = known(request->account),
        .user = known(request->user),
        .qos = known(request->qos),
        .program = known(request->program),
        .nodes = request->nnodes,
        .tasks_per_node = most_users(work->steps, work->ghosts),
    };

    work->policy = asp_policy_create();
    if (work->policy == NULL)
        return asp_errf(err, ENOMEM, "out of memory for the policy");
    if (asp_policy_add_default_site(work->policy, known(request->site_policy),
                                    err) < 0 ||
        asp_policy_add_spec(work->policy, request->spec, ASP_LAYER_LINE,
                            "request", err) < 0 ||
        asp_policy_resolve(work->policy, &facts, err) < 0)
        return -1;
    if (asp_policy_mode(work->policy) == ASP_MODE_GHOST &&
        asp_policy_number(work->policy, ASP_KNOB_GHOSTS) != work->ghosts)
        return asp_errf(
            err, EPERM,
            "the site's policy on this node gives %lld ghosts, but "
            "the step was started with %u: policy files differ "
            "between the nodes",
            (long long) asp_policy_number(work->policy, ASP_KNOB_GHOSTS),
            (unsigned) work->ghosts);
    return 0;
}

/* Ranks and names of all nodes. A node list that cannot be read costs the
 * other nodes' names only. */
static int resolve_steps(const struct aspa_request *request, struct work *work,
                         struct asp_err *err)
{
    struct asp_step_ranks *steps = NULL;

    if (asp_step_ranks_find(request->tasks_per_node, request->distribution,
                            request->plane_size, request->node, request->ranks,
                            request->nranks, &steps, err) < 0)
        return -1;
    work->steps = steps;
    if (steps->nnodes != request->nnodes || steps->ntasks != request->ntasks)
        return asp_errf(err, EINVAL,
                        "tasks per node \"%.60s\" do not add up to %u tasks on "
                        "%u nodes",
                        request->tasks_per_node, (unsigned) request->ntasks,
                        (unsigned) request->nnodes);
    if (aspa_hostlist_name(request->nodelist, steps->nodes, steps->nnodes,
                           NULL) < 0)
        for (uint32_t n = 0; n < steps->nnodes; n++)
            steps->nodes[n].name[0] = '\0';
    snprintf(steps->nodes[request->node].name, ASP_NAME_MAX, "%s",
             request->nodename);
    return 0;
}

static int parse_cpus(const char *key, const char *text,
                      struct asp_cpuset *out_p, struct asp_err *err)
{
    if (asp_cpuset_parse(text, strlen(text), out_p) == 0)
        return 0;
    return asp_errf(err, EINVAL, "request has %s \"%.60s\"", key, text);
}

static void set_unbound(struct work *work, const char *why)
{
    if (work->unbound[0] == '\0')
        snprintf(work->unbound, sizeof(work->unbound), "%.200s", why);
}

/* Restrict the topology to the step's cores, as far as Slurm told them. Cores
 * that it does not have mean that it is not this node's: then there is none. */
static void keep_step(const struct aspa_request *request, struct work *work,
                      const struct asp_cpuset *cores, struct asp_err *why)
{
    if (work->topo == NULL || request->step_cores[0] == '\0' ||
        asp_topo_keep_cores(work->topo, cores, why) == 0)
        return;
    asp_topo_destroy(work->topo);
    work->topo = NULL;
}

/* A --cpu-bind that says where tasks go, or that they go anywhere, is the
 * user's own plan. By cores and threads is what we do, and what hints become.
 */
static bool binds_itself(const char *kind)
{
    return kind[0] != '\0' && strncmp(kind, "cores", 5) != 0 &&
           strncmp(kind, "threads", 7) != 0;
}

/* --threads-per-core, --hint. With placement.smt=use single threads were asked
 * for, and ghosts may sit on those that ranks leave. */
static void keep_threads(const struct aspa_request *request, struct work *work)
{
    unsigned long threads = strtoul(request->threads_per_core, NULL, 10);

    if (work->topo != NULL && threads > 0 && threads < UINT32_MAX &&
        strcmp(asp_policy_text(work->policy, ASP_KNOB_SMT), "use") != 0)
        asp_topo_keep_threads(work->topo, (uint32_t) threads);
}

/* The machine. Without it, or without knowing which of its CPUs are the
 * step's, the plan is still good for roles and ghosts; it is only not
 * enforced. Binding to CPUs of other jobs would be worse than none. */
static int resolve_topo(const struct aspa_request *request, struct work *work,
                        struct asp_err *err)
{
    bool known_cpus = request->step_cpus[0] != '\0';
    struct asp_err why = {0};
    struct asp_cpuset cores;
    struct asp_cpuset cpus;

    if (parse_cpus("step_cpus", request->step_cpus, &cpus, err) < 0 ||
        parse_cpus("step_cores", request->step_cores, &cores, err) < 0)
        return -1;
    if (binds_itself(request->cpu_bind))
        set_unbound(work, "--cpu-bind was given");
    if (asp_topo_load(NULL, known_cpus ? &cpus : NULL, &work->topo, &why) < 0 &&
        known_cpus) {
        set_unbound(work, "the step's CPUs are not there");
        asp_topo_load(NULL, NULL, &work->topo, &why);
    }
    keep_step(request, work, &cores, &why);
    if (work->topo == NULL)
        set_unbound(work, why.text);
    else if (!work->topo->real)
        set_unbound(work, "pretended CPUs");
    else if (!known_cpus && request->step_cores[0] == '\0')
        set_unbound(work, "the step's CPUs are not known");
    else if (known_cpus &&
             memcmp(&work->topo->allowed, &cpus, sizeof(cpus)) != 0)
        set_unbound(work, "some of the step's CPUs are not there");
    keep_threads(request, work);
    return 0;
}

static uint32_t service_cores(const struct asp_policy *policy)
{
    if (asp_policy_mode(policy) != ASP_MODE_THREAD)
        return 0;
    return (uint32_t) asp_policy_number(policy, ASP_KNOB_THREAD_CORES);
}

static int make_layout(const struct aspa_request *request, struct work *work,
                       struct aspa_plan *plan, struct asp_err *err)
{
    const struct asp_policy *policy = work->policy;
    enum asp_mode mode = asp_policy_mode(policy);
    const char *spread = asp_policy_text(policy, ASP_KNOB_SPREAD);
    struct asp_plan_request wish = {
        .job = request->job,
        .mode = mode,
        .ghosts_per_node = mode == ASP_MODE_GHOST ? work->ghosts : 0,
        .service_cores = service_cores(policy),
        .offload = mode == ASP_MODE_GHOST &&
                   asp_policy_bool(policy, ASP_KNOB_OFFLOAD),
        .spread = strcmp(spread, "pack") == 0 ? ASP_SPREAD_PACK
                                              : ASP_SPREAD_NUMA,
        .share = asp_policy_bool(policy, ASP_KNOB_SHARE),
        .use_threads = strcmp(asp_policy_text(policy, ASP_KNOB_SMT), "use") ==
                       0,
        .may_bind = work->unbound[0] == '\0',
        .reason = known(work->unbound),
        .nodes = work->steps->nodes,
        .nnodes = work->steps->nnodes,
        .node = request->node,
    };

    if (mode == ASP_MODE_OFF || mode == ASP_MODE_AUTO)
        return asp_errf(err, EINVAL, "nothing to do in mode %s",
                        asp_mode_name(mode));
    if (asp_plan(work->topo, &wish, &plan->layout, err) < 0)
        return -1;
    asp_policy_to_layout(policy, plan->layout);
    plan->text = malloc(ASP_LAYOUT_TEXT_MAX);
    if (plan->text == NULL)
        return asp_errf(err, ENOMEM, "out of memory for the layout");
    if (asp_layout_encode(plan->layout, plan->text, ASP_LAYOUT_TEXT_MAX, err) <
        0)
        return -1;
    return 0;
}

/* Where nobody added a core for the offload thread, say whose it takes; where
 * there is none and CPUs are bound, the program will say it. */
static int note_cpus(const struct aspa_request *request,
                     const struct work *work, struct aspa_plan *plan,
                     struct asp_err *err)
{
    const struct asp_layout *layout = plan->layout;
    bool none = layout->tasks[0].cpu_helper_os < 0;
    size_t used = strlen(plan->note);
    char text[128];

    if (!asp_layout_offloads(layout))
        return 0;
    if (none && plan->require && work->topo != NULL)
        return asp_errf(err, ENOSPC,
                        "no CPU for the offload threads: ask for "
                        "one more per task (-c)");
    asp_plan_describe_cpus(work->topo, layout, text, sizeof(text));
    if (text[0] != '\0' && !request->cpus_grown && !(none && layout->bound))
        snprintf(plan->note + used, sizeof(plan->note) - used, "%s%s",
                 used ? "; " : "", text);
    return 0;
}

/* Where no core is left for the progress threads, say so: they share those of
 * the ranks. */
static int note_service(const struct work *work, struct aspa_plan *plan,
                        struct asp_err *err)
{
    const struct asp_layout *layout = plan->layout;
    size_t used = strlen(plan->note);

    if (layout->mode != ASP_MODE_THREAD || work->topo == NULL ||
        asp_cpuset_count(&layout->service) > 0)
        return 0;
    if (plan->require)
        return asp_errf(err, ENOSPC, "no core for the progress threads: %s",
                        layout->reason);
    snprintf(plan->note + used, sizeof(plan->note) - used,
             "%sno core for the progress threads: %s", used ? "; " : "",
             layout->reason);
    return 0;
}

int aspa_resolve(const struct aspa_request *request, struct aspa_plan *plan,
                 struct asp_err *err)
{
    struct asp_request_spec spec = {.ghosts = 0};
    struct work work = {0};
    int rc;

    asp_request_spec_parse(request->spec, &spec); /* refused below, if bad */
    work.ghosts = spec.ghosts;
    plan->require = asp_spec_says(request->spec, "require", "yes");
    rc = resolve_steps(request, &work, err);
    if (rc == 0)
        rc = resolve_policy(request, &work, err);
    if (rc == 0) {
        plan->require = asp_policy_bool(work.policy, ASP_KNOB_REQUIRE);
        plan->pmix = strcmp(asp_policy_text(work.policy, ASP_KNOB_PMIX),
                            "off") != 0;
        asp_policy_notes(work.policy, plan->note, sizeof(plan->note));
        rc = resolve_topo(request, &work, err);
    }
    if (rc == 0)
        rc = make_layout(request, &work, plan, err);
    if (rc == 0)
        rc = note_cpus(request, &work, plan, err);
    if (rc == 0)
        rc = note_service(&work, plan, err);
    asp_topo_destroy(work.topo);
    asp_step_ranks_destroy(work.steps);
    asp_policy_destroy(work.policy);
    return rc;
}

void aspa_plan_clear(struct aspa_plan *plan)
{
    asp_layout_destroy(plan->layout);
    free(plan->text);
    memset(plan, 0, sizeof(*plan));
}
