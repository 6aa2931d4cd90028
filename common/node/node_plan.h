/* SPDX-License-Identifier: BSD-3-Clause */
/* The plan of one node of a step, from the canonical request to the layout:
 * what the agent does under the plugin, and the first task of each node under
 * `aspen run`. Every node does it for itself and comes to the same roles. */
#ifndef ASPEN_COMMON_NODE_NODE_PLAN_H
#define ASPEN_COMMON_NODE_NODE_PLAN_H

#include "common/base/err.h"
#include "common/layout/layout.h"
#include "common/plan/topo.h"
#include "common/policy/policy.h"

#include <stdbool.h>
#include <stdint.h>

/* What is known of the step and of this node. Everything is borrowed; texts may
 * be NULL or "". */
struct asp_node {
    const char *job;         /* "12.0" */
    const char *spec;        /* the canonical request; never NULL */
    const char *site_policy; /* path; else the default one, if it is there */
    struct asp_facts facts;  /* nodes and tasks are filled in here */
    uint32_t ghosts;         /* per node, as they were counted at the start */
    const struct asp_layout_node *nodes; /* of the step, with names */
    uint32_t nnodes;
    uint32_t node;                /* this one */
    bool cpus_grown;              /* each task has a core more for its thread */
    const char *cpu_bind;         /* what kind of --cpu-bind the user gave */
    const char *threads_per_core; /* that the user wants */
};

struct asp_node_plan {
    struct asp_layout *layout; /* owned; NULL when there is none */
    char *text;                /* owned; the layout's text form */
    bool require;              /* set as soon as known, also on failure */
    bool pmix;                 /* does the policy want a PMIx server? */
    char note[400];            /* what the user should hear, or "" */
};

/* The same knobs as at the start of the job, and the site's limits once more:
 * the request came from the user's side. Sets require, pmix and note.
 *   policy_p  owned by the caller, asp_policy_destroy(); NULL after failure
 * Returns 0, or -1 with what common/policy says, and EPERM where policy files
 * differ between the nodes. */
int asp_node_policy(const struct asp_node *node, struct asp_policy **policy_p,
                    struct asp_node_plan *plan, struct asp_err *err);

/* Make the layout.
 *   topo     of this node, with the step's CPUs; NULL: not known. Restricted
 *            here to the threads that the user wants of each core
 *   unbound  why CPUs cannot be enforced, or ""
 * Returns 0, or -1 with text in err: the step runs without Aspen, or is refused
 * when plan->require is set. */
int asp_node_layout(const struct asp_node *node,
                    const struct asp_policy *policy, struct asp_topo *topo,
                    const char *unbound, struct asp_node_plan *plan,
                    struct asp_err *err);

/* Leaves it empty. */
void asp_node_plan_clear(struct asp_node_plan *plan);

#endif
