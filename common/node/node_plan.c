/* SPDX-License-Identifier: BSD-3-Clause */
/* Canonical request and site policy -> knobs; knobs, topology and ranks ->
 * layout and what to say of it. */
#include "node_plan.h"

#include "common/base/request_spec.h"
#include "common/plan/plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *known(const char *text)
{
    return text != NULL && text[0] != '\0' ? text : NULL;
}

/* User tasks of the fullest node. */
static uint32_t most_users(const struct asp_node *node)
{
    uint32_t most = 0;

    for (uint32_t n = 0; n < node->nnodes; n++)
        if (node->nodes[n].ntasks > most)
            most = node->nodes[n].ntasks;
    return most > node->ghosts ? most - node->ghosts : 0;
}

static int resolve(const struct asp_node *node, struct asp_policy *policy,
                   struct asp_err *err)
{
    struct asp_facts facts = node->facts;
    long long ghosts;

    facts.nodes = node->nnodes;
    facts.tasks_per_node = most_users(node);
    if (asp_policy_add_default_site(policy, known(node->site_policy), err) <
            0 ||
        asp_policy_add_spec(policy, node->spec, ASP_LAYER_LINE, "request",
                            err) < 0 ||
        asp_policy_resolve(policy, &facts, err) < 0)
        return -1;
    ghosts = asp_policy_number(policy, ASP_KNOB_GHOSTS);
    if (asp_policy_mode(policy) == ASP_MODE_GHOST && ghosts != node->ghosts)
        return asp_errf(err, EPERM,
                        "the site's policy on this node gives %lld ghosts, but "
                        "the step was started with %u: policy files differ "
                        "between the nodes",
                        ghosts, (unsigned) node->ghosts);
    return 0;
}

int asp_node_policy(const struct asp_node *node, struct asp_policy **policy_p,
                    struct asp_node_plan *plan, struct asp_err *err)
{
    struct asp_policy *policy = asp_policy_create();

    *policy_p = NULL;
    plan->require = asp_spec_says(node->spec, "require", "yes");
    if (policy == NULL)
        return asp_errf(err, ENOMEM, "out of memory for the policy");
    if (resolve(node, policy, err) < 0) {
        asp_policy_destroy(policy);
        return -1;
    }
    plan->require = asp_policy_bool(policy, ASP_KNOB_REQUIRE);
    plan->pmix = asp_policy_word(policy, ASP_KNOB_PMIX) == ASP_SWITCH_AUTO;
    asp_policy_notes(policy, plan->note, sizeof(plan->note));
    *policy_p = policy;
    return 0;
}

/* A --cpu-bind that says where tasks go, or that they go anywhere, is the
 * user's own plan. By cores and threads is what we do, and what hints become.
 */
static bool binds_itself(const char *kind)
{
    return known(kind) && strncmp(kind, "cores", 5) != 0 &&
           strncmp(kind, "threads", 7) != 0;
}

static bool uses_threads(const struct asp_policy *policy)
{
    return asp_policy_word(policy, ASP_KNOB_SMT) == ASP_SMT_USE;
}

/* --threads-per-core, --hint. With placement.smt=use single threads were asked
 * for, and ghosts may sit on those that ranks leave. */
static void keep_threads(const struct asp_node *node,
                         const struct asp_policy *policy, struct asp_topo *topo)
{
    const char *text = known(node->threads_per_core);
    unsigned long threads = text ? strtoul(text, NULL, 10) : 0;

    if (topo != NULL && threads > 0 && threads < UINT32_MAX &&
        !uses_threads(policy))
        asp_topo_keep_threads(topo, (uint32_t) threads);
}

static uint32_t service_cores(const struct asp_policy *policy)
{
    if (asp_policy_mode(policy) != ASP_MODE_THREAD)
        return 0;
    return (uint32_t) asp_policy_number(policy, ASP_KNOB_THREAD_CORES);
}

static int make_layout(const struct asp_node *node,
                       const struct asp_policy *policy,
                       const struct asp_topo *topo, const char *unbound,
                       struct asp_node_plan *plan, struct asp_err *err)
{
    enum asp_mode mode = asp_policy_mode(policy);
    struct asp_plan_request wish = {
        .job = node->job,
        .mode = mode,
        .ghosts_per_node = mode == ASP_MODE_GHOST ? node->ghosts : 0,
        .service_cores = service_cores(policy),
        .offload = mode == ASP_MODE_GHOST &&
                   asp_policy_bool(policy, ASP_KNOB_OFFLOAD),
        .spread = (enum asp_spread) asp_policy_word(policy, ASP_KNOB_SPREAD),
        .share = asp_policy_bool(policy, ASP_KNOB_SHARE),
        .use_threads = uses_threads(policy),
        .may_bind = known(unbound) == NULL,
        .reason = known(unbound),
        .nodes = node->nodes,
        .nnodes = node->nnodes,
        .node = node->node,
    };

    if (mode == ASP_MODE_OFF || mode == ASP_MODE_AUTO)
        return asp_errf(err, EINVAL, "nothing to do in mode %s",
                        asp_mode_name(mode));
    if (asp_plan(topo, &wish, &plan->layout, err) < 0)
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

static void add_note(struct asp_node_plan *plan, const char *what,
                     const char *text)
{
    size_t used = strlen(plan->note);

    snprintf(plan->note + used, sizeof(plan->note) - used, "%s%s%s",
             used ? "; " : "", what, text);
}

/* Where nobody added a core for the offload thread, say whose it takes; where
 * there is none and CPUs are bound, the program will say it. */
static int note_cpus(const struct asp_node *node, const struct asp_topo *topo,
                     struct asp_node_plan *plan, struct asp_err *err)
{
    const struct asp_layout *layout = plan->layout;
    bool none = layout->tasks[0].cpu_helper_os < 0;
    char text[128];

    if (!asp_layout_offloads(layout))
        return 0;
    if (none && plan->require && topo != NULL)
        return asp_errf(err, ENOSPC,
                        "no CPU for the offload threads: ask for "
                        "one more per task (-c)");
    asp_plan_describe_cpus(topo, layout, text, sizeof(text));
    if (text[0] != '\0' && !node->cpus_grown && !(none && layout->bound))
        add_note(plan, "", text);
    return 0;
}

/* Where no core is left for the progress threads, say so: they share those of
 * the ranks. */
static int note_service(const struct asp_topo *topo, struct asp_node_plan *plan,
                        struct asp_err *err)
{
    static const char none[] = "no core for the progress threads: ";
    const struct asp_layout *layout = plan->layout;

    if (layout->mode != ASP_MODE_THREAD || topo == NULL ||
        asp_cpuset_count(&layout->service) > 0)
        return 0;
    if (plan->require)
        return asp_errf(err, ENOSPC, "%s%s", none, layout->reason);
    add_note(plan, none, layout->reason);
    return 0;
}

int asp_node_layout(const struct asp_node *node,
                    const struct asp_policy *policy, struct asp_topo *topo,
                    const char *unbound, struct asp_node_plan *plan,
                    struct asp_err *err)
{
    if (binds_itself(node->cpu_bind))
        unbound = "--cpu-bind was given";
    keep_threads(node, policy, topo);
    if (make_layout(node, policy, topo, unbound, plan, err) < 0 ||
        note_cpus(node, topo, plan, err) < 0)
        return -1;
    return note_service(topo, plan, err);
}

void asp_node_plan_clear(struct asp_node_plan *plan)
{
    asp_layout_destroy(plan->layout);
    free(plan->text);
    memset(plan, 0, sizeof(*plan));
}
