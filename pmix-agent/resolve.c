/* SPDX-License-Identifier: BSD-3-Clause */
/* Request -> plan. Called once by main.c and explain.c. The road: Slurm's words
 * about the step give the ranks of all nodes; hwloc gives the machine; site
 * policy and canonical request give knobs; common/node puts them together.
 *
 * Every node does this for itself and must come to the same ranks and roles;
 * the ranks are checked against what Slurm says of this node. */
#include "config.h"

#include "resolve.h"

#include "common/base/request_spec.h"
#include "common/plan/hostlist.h"
#include "common/plan/step_ranks.h"
#include "common/plan/topo.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* What is made on the way; all owned. */
struct work {
    struct asp_policy *policy;
    struct asp_step_ranks *steps;
    struct asp_topo *topo;
    char unbound[ASP_VALUE_MAX]; /* why CPUs cannot be enforced, or "" */
};

static const char *known(const char *text)
{
    return text[0] != '\0' ? text : NULL;
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
    if (asp_hostlist_name(request->nodelist, steps->nodes, steps->nnodes,
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
    return 0;
}

static struct asp_node describe(const struct aspa_request *request,
                                const struct work *work)
{
    struct asp_request_spec spec = {.ghosts = 0};

    asp_request_spec_parse(request->spec, &spec); /* refused below, if bad */
    return (struct asp_node){
        .job = request->job,
        .spec = request->spec,
        .site_policy = request->site_policy,
        .facts = {.partition = known(request->partition),
                  .account = known(request->account),
                  .user = known(request->user),
                  .qos = known(request->qos),
                  .program = known(request->program)},
        .ghosts = spec.ghosts,
        .nodes = work->steps->nodes,
        .nnodes = work->steps->nnodes,
        .node = request->node,
        .cpus_grown = request->cpus_grown,
        .cpu_bind = request->cpu_bind,
        .threads_per_core = request->threads_per_core,
    };
}

int aspa_resolve(const struct aspa_request *request, struct asp_node_plan *plan,
                 struct asp_err *err)
{
    struct work work = {0};
    struct asp_node node;
    int rc;

    plan->require = asp_spec_says(request->spec, "require", "yes");
    rc = resolve_steps(request, &work, err);
    if (rc == 0) {
        node = describe(request, &work);
        rc = asp_node_policy(&node, &work.policy, plan, err);
    }
    if (rc == 0)
        rc = resolve_topo(request, &work, err);
    if (rc == 0)
        rc = asp_node_layout(&node, work.policy, work.topo, work.unbound, plan,
                             err);
    asp_topo_destroy(work.topo);
    asp_step_ranks_destroy(work.steps);
    asp_policy_destroy(work.policy);
    return rc;
}
