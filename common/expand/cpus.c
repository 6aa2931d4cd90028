/* SPDX-License-Identifier: BSD-3-Clause */
/* Mode offload: a core more for each task. Called by words.c.
 *
 * Slurm counts CPUs, which are threads where cores have several; the plan
 * (common/plan/plan.c) gives a task whole cores and the last of them to its
 * thread. */
#include "expand.h"

static uint32_t threads_of(const struct asp_expand_request *r)
{
    uint32_t threads = r->threads ? r->threads : 1;

    return r->threads_asked && r->threads_asked < threads ? r->threads_asked
                                                          : threads;
}

/* CPUs of a task with its thread: the user's in whole cores, and one core; or
 * one thread where the policy lets it sit beside the user. */
static uint32_t wanted(const struct asp_expand_request *r)
{
    uint32_t own = r->cpus_per_task ? r->cpus_per_task : 1;
    uint32_t threads = threads_of(r);

    if (r->sibling || threads == 1)
        return own + 1;
    return (own + threads - 1) / threads * threads + threads;
}

/* Of the CPUs of a node, those that the job may count. */
static uint32_t usable(const struct asp_expand_request *r, uint32_t cpus)
{
    uint32_t threads = r->threads ? r->threads : 1;

    return r->alloc_cpus && r->alloc_asked ? cpus
                                           : cpus / threads * threads_of(r);
}

static uint32_t nodes_asked(const struct asp_expand_request *r)
{
    return r->nodelist_count > r->nodes_min ? r->nodelist_count : r->nodes_min;
}

/* Tasks of the step, as far as its options tell; 0: as many as fit. */
static uint32_t tasks_of(const struct asp_expand_request *r)
{
    uint32_t nodes = nodes_asked(r) ? nodes_asked(r) : 1;

    if (r->ntasks)
        return r->ntasks;
    if (r->ntasks_per_node)
        return nodes * r->ntasks_per_node;
    return r->cpus_per_task && r->srun ? 0 : nodes;
}

/* Tasks of so many CPUs that fit into the nodes; *least_p is set to those of
 * the smallest node. */
static uint64_t capacity_of(const struct asp_expand_request *r,
                            const uint32_t *cpus, uint32_t nnodes,
                            uint32_t want, uint32_t *least_p)
{
    uint64_t capacity = 0;

    *least_p = UINT32_MAX;
    for (uint32_t i = 0; i < nnodes; i++) {
        uint32_t here = usable(r, cpus[i]) / want;

        capacity += here;
        if (here < *least_p)
            *least_p = here;
    }
    return capacity;
}

/* Which nodes of an allocation a smaller step gets is Slurm's choice. */
static bool fits_allocation(const struct asp_expand_request *r, uint32_t want)
{
    uint32_t nodes = nodes_asked(r), least;
    uint64_t capacity = capacity_of(r, r->alloc_cpus, r->alloc_nnodes, want,
                                    &least);

    if (nodes && nodes < r->alloc_nnodes)
        capacity = (uint64_t) least * nodes;
    return least > 0 && capacity >= tasks_of(r) &&
           (r->ntasks_per_node == 0 || least >= r->ntasks_per_node);
}

/* Tasks on the fullest node, at least. */
static uint32_t fullest(const struct asp_expand_request *r)
{
    uint32_t nodes = r->nodes_max ? r->nodes_max : nodes_asked(r);

    if (r->ntasks_per_node)
        return r->ntasks_per_node;
    return nodes && tasks_of(r) ? (tasks_of(r) + nodes - 1) / nodes : 1;
}

static bool fits_partition(const struct asp_expand_request *r, uint32_t want)
{
    uint32_t least;
    uint64_t capacity;

    if (r->max_cpus && (uint64_t) want * fullest(r) > usable(r, r->max_cpus))
        return false;
    capacity = capacity_of(r, r->part_cpus, r->part_nnodes, want, &least);
    return r->part_nnodes == 0 || capacity >= tasks_of(r);
}

/* The step gets all CPUs of its nodes, unless -c is given: then -c would take
 * CPUs away. Only the number of nodes may have to grow. */
static void choose_nodes(const struct asp_expand_request *r, uint32_t want,
                         struct asp_expand_cpus *out)
{
    uint32_t each = usable(r, r->node_cpus) / want;

    if (nodes_asked(r) || r->ntasks_per_node || r->ntasks < 2 || each == 0)
        return;
    out->nodes = (r->ntasks + each - 1) / each;
    if (r->part_nnodes && out->nodes > r->part_nnodes)
        out->nodes = 0;
}

static void grow_step(const struct asp_expand_request *r,
                      struct asp_expand_cpus *out)
{
    uint32_t want = wanted(r);
    bool counted = r->cpus_per_task || r->exact;

    if (r->had_total && (!counted || r->cpus_per_task == r->had_total)) {
        out->user = r->had_user; /* has grown already, with the allocation */
        out->total = r->had_total;
    } else if (counted && fits_allocation(r, want)) {
        out->cpus_per_task = out->total = want;
    }
}

static void grow_job(const struct asp_expand_request *r,
                     struct asp_expand_cpus *out)
{
    uint32_t want = wanted(r);

    if (r->cpus_per_task == 0 && r->whole_nodes && !r->exact) {
        choose_nodes(r, want, out);
    } else if (fits_partition(r, want)) {
        out->cpus_per_task = out->total = want;
        /* With -c srun starts as many tasks as fit, without one on a node. */
        if (r->srun && r->cpus_per_task == 0 && r->ntasks == 0 &&
            r->ntasks_per_node == 0) {
            out->ntasks = tasks_of(r);
            out->nodes = nodes_asked(r);
        }
    }
}

void asp_expand_cpus(const struct asp_expand_request *request,
                     struct asp_expand_cpus *out_p)
{
    *out_p = (struct asp_expand_cpus){.user = request->cpus_per_task};
    if (request->overcommit || request->per_gpu || request->tres_cpus ||
        request->cpus_per_task > ASP_RANKS_MAX)
        return;
    if (request->alloc_cpus)
        grow_step(request, out_p);
    else
        grow_job(request, out_p);
}
