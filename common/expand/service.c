/* SPDX-License-Identifier: BSD-3-Clause */
/* Mode thread: cores more on each node, for the progress threads of its ranks.
 * Called by words.c.
 *
 * Slurm counts CPUs by task; what it can be asked for by node is --mincpus. The
 * step has all CPUs of its job, and so the added ones, unless srun counts CPUs
 * exactly (-c, --exact): then nothing is added. Where --mincpus only chooses
 * nodes (24.11.1 and later) the tasks become larger, if few of them are on a
 * node. */
#include "expand.h"

struct share {
    uint32_t task;    /* CPUs of a task, */
    uint32_t service; /* and of the service cores */
};

/* In whole cores, as the plan gives them. */
static struct share share_of(const struct asp_expand_request *r)
{
    uint32_t own = r->cpus_per_task ? r->cpus_per_task : 1;
    uint32_t threads = r->threads && !r->sibling ? r->threads : 1;

    return (struct share){
        .task = (own + threads - 1) / threads * threads,
        .service = r->service * threads,
    };
}

static bool can_ask(const struct asp_expand_request *r)
{
    bool exact = r->srun && (r->cpus_per_task || r->exact);
    bool some_threads = r->threads_asked && r->threads_asked < r->threads;

    /* In a job without -n, a step with -c starts as many tasks as fit. */
    bool fills = !r->srun && r->ntasks == 0;

    return !exact && !fills && !some_threads && !r->overcommit && !r->per_gpu &&
           !r->per_device && !r->tres_cpus && !r->node_info && !r->multi_prog &&
           r->dist != ASP_EXPAND_ARBITRARY && r->alloc_cpus == NULL &&
           r->max_cpus && r->ntasks <= ASP_RANKS_MAX &&
           r->cpus_per_task <= ASP_RANKS_MAX &&
           r->ntasks_per_node <= ASP_RANKS_MAX;
}

/* Nodes whose CPUs are enough; where they are not known, any number. */
static uint32_t nodes_with(const struct asp_expand_request *r, uint64_t cpus)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < r->part_nnodes; i++)
        count += r->part_cpus[i] >= cpus;
    return r->part_nnodes ? count : UINT32_MAX;
}

/* The number of nodes: the user's, or what the tasks need. 0: too many. */
static uint32_t choose_nodes(const struct asp_expand_request *r,
                             const struct share *share)
{
    uint32_t nodes = r->nodelist_count > r->nodes_min ? r->nodelist_count
                                                      : r->nodes_min;
    uint32_t each;

    if (nodes)
        return nodes;
    if (r->ntasks < 2)
        return 1;
    each = r->ntasks_per_node ? r->ntasks_per_node
           : r->node_cpus > share->service
               ? (r->node_cpus - share->service) / share->task
               : 0;
    return each ? (r->ntasks + each - 1) / each : 0;
}

/* Does --mincpus bring CPUs, or whole nodes have them anyway? */
static bool mincpus_adds(const struct asp_expand_request *r)
{
    return asp_slurm_has(r->slurm, ASP_SLURM_MINCPUS_ADDS) || r->whole_nodes ||
           r->exclusive || (r->ntasks == 0 && r->ntasks_per_node == 0);
}

/* Larger tasks instead, in whole cores, so that the emptiest node has enough.
 * On a full node each task brings some: more than twice the service cores would
 * be a waste, and 0 is returned. */
static uint32_t larger_task(const struct asp_expand_request *r,
                            const struct share *share, uint32_t nodes,
                            uint32_t fullest)
{
    uint32_t fewest = r->ntasks ? r->ntasks / nodes : r->ntasks_per_node;
    uint32_t core = r->threads && !r->sibling ? r->threads : 1;
    uint32_t more, cores = share->service / core;

    if (r->cpus_per_task || fewest == 0)
        return 0;
    more = (cores + fewest - 1) / fewest * core;
    return (uint64_t) more * fullest > 2 * (uint64_t) share->service
               ? 0
               : share->task + more;
}

void asp_expand_service(const struct asp_expand_request *request,
                        struct asp_expand_service *out_p)
{
    const struct share share = share_of(request);
    uint32_t nodes = choose_nodes(request, &share);
    uint32_t fullest = request->ntasks_per_node, larger = 0;
    uint64_t need;

    *out_p = (struct asp_expand_service){.nodes = 0};
    if (!can_ask(request) || nodes == 0)
        return;
    if (fullest == 0)
        fullest = request->ntasks ? (request->ntasks + nodes - 1) / nodes : 1;
    need = (uint64_t) fullest * share.task + share.service;
    if (!mincpus_adds(request)) {
        larger = larger_task(request, &share, nodes, fullest);
        need = (uint64_t) fullest * larger;
        if (larger == 0)
            return;
    }
    if (need > request->max_cpus || nodes_with(request, need) < nodes)
        return;
    out_p->cpus_per_task = larger;
    if (larger == 0 && need > request->mincpus)
        out_p->mincpus = (uint32_t) need;
    if (request->nodes_min == 0 && request->nodelist_count == 0 &&
        request->ntasks > 1 && request->ntasks_per_node == 0)
        out_p->nodes = nodes;
}
