/* SPDX-License-Identifier: BSD-3-Clause */
/* How many tasks and nodes to ask for so that each node gets its ghosts. Called
 * by words.c, for `aspen explain --extra`. */
#include "expand.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* How Slurm gives n tasks to N nodes, in tasks per node: one to each node in
 * turn while it has room, and when all are full, on without looking at
 * capacity. Block and cyclic differ in the numbering only. Plane deals `plane`
 * at a time, after a first task to each.
 *   capacity  tasks that a node can hold; NULL: any number
 *   out       nnodes numbers */
static void deal(uint32_t ntasks, uint32_t nnodes, const uint32_t *capacity,
                 uint32_t plane, uint32_t *out)
{
    bool full = false;
    uint32_t left = ntasks;

    memset(out, 0, nnodes * sizeof(*out));
    if (plane > 1)
        for (uint32_t i = 0; i < nnodes && left; i++, left--)
            out[i] = 1;
    for (uint32_t round = 0; left; round++) {
        bool moved = false;

        for (uint32_t i = 0; i < nnodes && left; i++) {
            uint32_t step = plane > 1 ? plane - (round == 0) : 1;

            for (; step && left; step--) {
                if (!full && capacity && out[i] >= capacity[i])
                    break;
                out[i]++;
                left--;
                moved = true;
            }
        }
        full = full || !moved;
    }
}

/* Users per node: n over N as even as can be, the first nodes one more. */
static uint32_t share(uint32_t users, uint32_t nnodes, uint32_t node)
{
    return users / nnodes + (node < users % nnodes);
}

static int check_request(const struct asp_expand_request *r,
                         struct asp_err *err)
{
    if (r->ghosts == 0 || r->ghosts > ASP_GHOSTS_MAX)
        return asp_errf(err, EINVAL,
                        "%" PRIu32 " ghosts per node: 1 to %d "
                        "are possible",
                        r->ghosts, ASP_GHOSTS_MAX);
    if (r->ntasks > ASP_RANKS_MAX || r->nodes_min > ASP_NODES_MAX ||
        r->ntasks_per_node > ASP_RANKS_MAX ||
        r->cpus_per_task > ASP_RANKS_MAX ||
        (r->nodes_max && r->nodes_max < r->nodes_min))
        return asp_errf(err, EINVAL,
                        "absurd request: %" PRIu32 " tasks on %" PRIu32
                        "-%" PRIu32 " nodes",
                        r->ntasks, r->nodes_min, r->nodes_max);
    if (r->multi_prog)
        return asp_errf(err, ERANGE,
                        "--multi-prog names programs by task id, "
                        "which ghosts shift: start them with one srun each, "
                        "or use --async-progress=off");
    if (r->srun && r->stream_of) /* for sbatch they are names of files */
        return asp_errf(err, ERANGE,
                        "--input, --output and --error with a number name a "
                        "task by its id, which ghosts shift: let the program "
                        "choose by SLURM_PROCID, or use --async-progress=off");
    if (r->container)
        return asp_errf(err, ERANGE,
                        "ghosts cannot run in a container (--container): use "
                        "--async-progress=offload, thread or off");
    if (r->per_device || (r->node_info && r->ntasks == 0))
        return asp_errf(err, ERANGE,
                        "--ntasks-per-gpu, --ntasks-per-tres and -B set the "
                        "number of tasks from the hardware, which leaves no "
                        "place for ghosts: give -N and -n instead");
    if (r->device_each)
        return asp_errf(err, ERANGE,
                        "--gpus-per-task and --tres-per-task would give ghosts "
                        "devices, too, which they have no use for: ask for "
                        "those of a node (--gpus-per-node) instead");
    if (r->per_part)
        return asp_errf(err, ERANGE,
                        "--ntasks-per-socket and --ntasks-per-core count "
                        "ghosts, too, and leave no place for them: use "
                        "--ntasks-per-node, or -c, instead");
    if (r->dist == ASP_EXPAND_ARBITRARY)
        return asp_errf(err, ERANGE,
                        "--distribution=arbitrary (or "
                        "SLURM_HOSTFILE) fixes the tasks of each node, so "
                        "ghosts cannot be added: use block, cyclic or plane");
    return 0;
}

/* Without -N: how many nodes the tasks need. */
static int guess_nodes(const struct asp_expand_request *r, uint32_t *nodes_p,
                       struct asp_err *err)
{
    uint32_t cpus = r->cpus_per_task ? r->cpus_per_task : 1, users;

    if (r->ntasks == 0) {
        *nodes_p = 1;
        return 0;
    }
    if (r->ntasks_per_node) {
        *nodes_p = (r->ntasks + r->ntasks_per_node - 1) / r->ntasks_per_node;
        return 0;
    }
    if (r->ntasks == 1) {
        *nodes_p = 1;
        return 0;
    }
    if (r->node_cpus == 0)
        return asp_errf(err, ERANGE,
                        "%" PRIu32 " user tasks and %" PRIu32
                        " ghost(s) on each node, but on how many nodes? Give "
                        "-N",
                        r->ntasks, r->ghosts);
    if (r->node_cpus / cpus <= r->ghosts)
        return asp_errf(err, ERANGE,
                        "nodes of %" PRIu32 " CPUs have no room "
                        "for a user task and %" PRIu32 " ghost(s) of %" PRIu32
                        " CPU(s) each: ask for fewer ghosts, or give -N",
                        r->node_cpus, r->ghosts, cpus);
    users = r->node_cpus / cpus - r->ghosts;
    *nodes_p = (r->ntasks + users - 1) / users;
    return 0;
}

/* The smallest number in the range of -N whose nodes have room for all. */
static uint32_t choose_nodes(const struct asp_expand_request *r, uint32_t min)
{
    uint32_t cpus = r->cpus_per_task ? r->cpus_per_task : 1;
    uint32_t have = r->alloc_cpus ? r->alloc_cpus[0] : r->node_cpus;

    if (have == 0 || r->ntasks == 0 || r->overcommit)
        return min;
    for (uint32_t nodes = min; nodes <= r->nodes_max && nodes <= r->ntasks;
         nodes++)
        if (((uint64_t) share(r->ntasks, nodes, 0) + r->ghosts) * cpus <= have)
            return nodes;
    return min;
}

/* The number of nodes becomes fixed: ghosts are counted per node. */
static int fix_nodes(const struct asp_expand_request *r,
                     struct asp_expand_result *result, struct asp_err *err)
{
    uint32_t nodes = r->nodes_min;
    uint64_t users = r->ntasks;

    if (r->nodelist_count > nodes)
        nodes = r->nodelist_count;
    if (nodes == 0) {
        if (guess_nodes(r, &nodes, err) < 0)
            return -1;
        result->narrowed = r->ntasks > 1 && r->ntasks_per_node == 0;
    } else {
        result->narrowed = r->nodes_min && r->nodes_max != r->nodes_min;
        if (result->narrowed)
            nodes = choose_nodes(r, nodes);
    }
    if (users == 0)
        users = (uint64_t) nodes *
                (r->ntasks_per_node ? r->ntasks_per_node : 1);
    if (users + (uint64_t) nodes * r->ghosts > ASP_RANKS_MAX)
        return asp_errf(err, EINVAL,
                        "%" PRIu64 " user tasks and their ghosts on %" PRIu32
                        " nodes are too many",
                        users, nodes);
    if (users < nodes) /* as Slurm does */
        nodes = (uint32_t) users;
    result->users = (uint32_t) users;
    result->nodes = nodes;
    result->tasks = result->users + nodes * r->ghosts;
    return 0;
}

static bool all_alike(const uint32_t *values, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        if (values[i] != values[0])
            return false;
    return true;
}

/* CPUs of each node that Slurm looks at when it deals planes; 0: not known.
 * With -O a job has all of its nodes, or one core of each. */
static uint32_t plane_cpus(const struct asp_expand_request *r)
{
    bool more = r->cpus_per_task > 1 || r->ntasks_per_node || r->mincpus;

    if (r->alloc_cpus)
        return all_alike(r->alloc_cpus, r->alloc_nnodes) ? r->alloc_cpus[0] : 0;
    if (!r->overcommit)
        return r->max_cpus;
    if (!r->whole_nodes)
        return more ? 0 : r->threads;
    return all_alike(r->part_cpus, r->part_nnodes) ? r->max_cpus : 0;
}

/* Tasks that the nodes have room for. -O takes each for a task of one CPU, but
 * does not keep Slurm from filling the CPUs that there are first. Only srun
 * places tasks. */
static void plane_capacities(const struct asp_expand_request *r,
                             uint32_t nnodes, uint32_t *capacity)
{
    bool named = r->alloc_cpus && nnodes == r->alloc_nnodes;
    uint32_t each = r->overcommit || !r->cpus_per_task ? 1 : r->cpus_per_task;
    uint32_t common = plane_cpus(r);

    for (uint32_t i = 0; i < nnodes; i++) {
        uint32_t cpus = named ? r->alloc_cpus[i] : common;

        if (!r->srun || r->exact || (r->threads_asked && r->threads == 0))
            cpus = 0;
        else if (r->threads_asked && r->threads_asked < r->threads)
            cpus = cpus / r->threads * r->threads_asked;
        capacity[i] = cpus / each ? cpus / each : UINT32_MAX;
    }
}

/* Numbers given to nodes, a plane to each in turn, until they have theirs. */
struct turns {
    const uint32_t *counts;
    uint32_t *dealt;
    uint32_t nnodes;
    uint32_t plane;
    uint32_t ghosts; /* the last of each node */
    uint32_t node;
    uint32_t step;
};

/* Node of the next user; there must be one. */
static uint32_t next_user(struct turns *t)
{
    for (;;) {
        if (t->step == t->plane || t->dealt[t->node] == t->counts[t->node]) {
            t->node = (t->node + 1) % t->nnodes;
            t->step = 0;
            continue;
        }
        t->step++;
        if (t->dealt[t->node]++ + t->ghosts < t->counts[t->node])
            return t->node;
    }
}

/* Scratch of fix_plane(), a number for each node. */
enum { BEFORE, AFTER, CAPACITY, DEALT, DEALT_AFTER, NSCRATCH };

/* Dealt by planes, does every user fall on the node where he was, and G ghosts
 * on every node?
 *   plane  0: by -m block */
static bool falls_right(const struct asp_expand_request *r,
                        const struct asp_expand_result *result, uint32_t plane,
                        uint32_t *scratch)
{
    const uint32_t n = result->nodes;
    uint32_t *before = scratch + BEFORE * (size_t) n;
    uint32_t *after = scratch + AFTER * (size_t) n;
    const uint32_t *capacity = scratch + CAPACITY * (size_t) n;
    struct turns was = {.counts = before, .nnodes = n, .plane = r->plane_size};
    struct turns is = {.counts = after,
                       .nnodes = n,
                       .plane = plane ? plane : result->tasks,
                       .ghosts = r->ghosts};

    was.dealt = scratch + DEALT * (size_t) n;
    is.dealt = scratch + DEALT_AFTER * (size_t) n;
    memset(was.dealt, 0, n * sizeof(*was.dealt));
    memset(is.dealt, 0, n * sizeof(*is.dealt));
    deal(result->users, n, capacity, r->plane_size, before);
    deal(result->tasks, n, capacity, plane ? plane : 1, after);
    for (uint32_t i = 0; i < n; i++)
        if (after[i] != before[i] + r->ghosts)
            return false;
    for (uint32_t i = 0; i < result->users; i++)
        if (next_user(&was) != next_user(&is))
            return false;
    return true;
}

static int refuse_plane(const struct asp_expand_request *r,
                        const struct asp_expand_result *result,
                        const uint32_t *scratch, struct asp_err *err)
{
    const uint32_t *before = scratch + BEFORE * (size_t) result->nodes;
    const uint32_t *capacity = scratch + CAPACITY * (size_t) result->nodes;

    for (uint32_t i = 0; i < result->nodes; i++)
        if (before[i] <= capacity[i] && before[i] + r->ghosts > capacity[i])
            return asp_errf(
                err, ERANGE,
                "node %" PRIu32 " of %" PRIu32 " has room for %" PRIu32
                " task(s), but -m plane=%" PRIu32 " gives it %" PRIu32
                " user task(s) and there are %" PRIu32 " ghost(s), and Slurm "
                "fills all nodes first%s: use -m block, or more nodes",
                i + 1, result->nodes, capacity[i], r->plane_size, before[i],
                r->ghosts, r->overcommit ? ", --overcommit or not" : "");
    return asp_errf(err, ERANGE,
                    "--distribution=plane=%" PRIu32 " with %" PRIu32
                    " user tasks and %" PRIu32 " ghost(s) on each of %" PRIu32
                    " nodes cannot give every node its ghosts and leave every "
                    "user task where it was: use -m block",
                    r->plane_size, result->users, r->ghosts, result->nodes);
}

static int fix_plane(const struct asp_expand_request *r,
                     struct asp_expand_result *result, uint32_t *scratch,
                     struct asp_err *err)
{
    uint32_t wider = r->plane_size + r->ghosts;

    if (r->plane_size == 0)
        return asp_errf(err, EINVAL, "--distribution=plane without a size");
    if (result->nodes == 1)
        return 0;
    plane_capacities(r, result->nodes,
                     scratch + CAPACITY * (size_t) result->nodes);
    if (falls_right(r, result, r->plane_size, scratch))
        return 0;
    if (falls_right(r, result, wider, scratch))
        result->plane_size = wider;
    else if (r->srun && falls_right(r, result, 0, scratch))
        result->block = true;
    else
        return refuse_plane(r, result, scratch, err);
    return 0;
}

/* Ask for nodes that have room for what they are to get. */
static void fix_room(const struct asp_expand_request *r,
                     struct asp_expand_result *result)
{
    uint32_t cpus = r->cpus_per_task ? r->cpus_per_task : 1;

    /* Overcommitted, Slurm refuses a number per node beyond its CPUs. */
    if (r->overcommit && r->ntasks_per_node == 0)
        return;
    if (result->tasks % result->nodes == 0)
        result->ntasks_per_node = result->tasks / result->nodes;
    else if (r->ntasks_per_node)
        result->ntasks_per_node = result->tasks / result->nodes + 1;
    if (result->nodes > 1 && !r->overcommit && r->alloc_cpus == NULL)
        result->mincpus = (result->users / result->nodes + r->ghosts) * cpus;
    if (result->mincpus <= r->mincpus)
        result->mincpus = 0; /* the user's own is enough */
}

/* May a job have more tasks than CPUs? */
static bool may_overcommit(const struct asp_expand_request *r)
{
    return !(r->whole_nodes || r->exclusive) ||
           asp_slurm_has(r->slurm, ASP_SLURM_OVERCOMMITS_NODES);
}

/* Slurm counts what placement.share does without. */
static const char *share_advice(const struct asp_expand_request *r)
{
    return r->alloc_cpus != NULL || may_overcommit(r)
               ? "ghosts that share cores (placement.share=yes) need "
                 "--overcommit (-O)"
               : "ghosts that share cores (placement.share=yes) need srun "
                 "--overcommit (-O) inside salloc or sbatch: this release of "
                 "Slurm never starts a job with more tasks than CPUs on whole "
                 "nodes";
}

/* What to do where an allocation has no room. */
static const char *room_advice(const struct asp_expand_request *r)
{
    if (r->share)
        return share_advice(r);
    if (r->no_plugin)
        return "ask for fewer tasks (-n), or ask salloc or sbatch for more, so "
               "that the allocation has room for ghosts";
    return "ask for fewer tasks (-n), or give --async-progress to salloc or "
           "sbatch, so that the allocation has room for ghosts";
}

static int no_room(const struct asp_expand_request *r,
                   const struct asp_expand_result *result, uint32_t node,
                   struct asp_err *err)
{
    uint32_t cpus = r->cpus_per_task ? r->cpus_per_task : 1;
    uint32_t users = share(result->users, result->nodes, node);

    return asp_errf(err, ERANGE,
                    "node %" PRIu32 " of the allocation has %" PRIu32
                    " CPU(s), but %" PRIu32 " user task(s) and %" PRIu32
                    " ghost(s) of %" PRIu32 " CPU(s) each need %" PRIu32 ": %s",
                    node + 1, r->alloc_cpus[node], users, r->ghosts, cpus,
                    (users + r->ghosts) * cpus, room_advice(r));
}

/* Outside one, overcommitted: would Slurm ever start it? */
static int check_whole_nodes(const struct asp_expand_request *r,
                             const struct asp_expand_result *result,
                             struct asp_err *err)
{
    uint32_t each = r->cpus_per_task ? r->cpus_per_task : 1;
    uint64_t capacity = (uint64_t) result->nodes *
                        (r->max_cpus > each ? r->max_cpus / each : 1);

    if (r->alloc_cpus != NULL || r->max_cpus == 0 ||
        result->tasks <= capacity || may_overcommit(r))
        return 0;
    return asp_errf(
        err, ERANGE,
        "%" PRIu32 " user task(s) and %" PRIu32
        " ghost(s) are more than the CPUs of %" PRIu32
        " whole node(s), and this release of Slurm never starts "
        "such a job, --overcommit or not: get the nodes with salloc "
        "or sbatch, without -n, and run srun -O in there",
        result->users, result->tasks - result->users, result->nodes);
}

/* Outside one: could any node hold its share? Slurm would refuse without
 * naming the ghosts. */
static int check_largest(const struct asp_expand_request *r,
                         const struct asp_expand_result *result,
                         struct asp_err *err)
{
    uint32_t cpus = r->cpus_per_task ? r->cpus_per_task : 1;
    uint32_t users = share(result->users, result->nodes, 0);
    uint64_t need = ((uint64_t) users + r->ghosts) * cpus;

    if (r->max_cpus == 0 || need <= r->max_cpus)
        return 0;
    return asp_errf(err, ERANGE,
                    "%" PRIu32 " user task(s) and %" PRIu32
                    " ghost(s) of %" PRIu32 " CPU(s) on each of %" PRIu32
                    " node(s) need %" PRIu64
                    " CPUs per node, but nodes have at most %" PRIu32 ": %s",
                    users, r->ghosts, cpus, result->nodes, need, r->max_cpus,
                    r->share ? share_advice(r)
                             : "use more nodes (-N), fewer tasks (-n) or "
                               "fewer ghosts");
}

/* Inside an allocation the CPUs are given: does each node have enough? */
static int check_room(const struct asp_expand_request *r,
                      const struct asp_expand_result *result, uint32_t *scratch,
                      struct asp_err *err)
{
    uint32_t plane = result->plane_size ? result->plane_size : r->plane_size;
    uint32_t *after = scratch, *capacity = scratch + result->nodes;
    uint32_t least = result->users / result->nodes + r->ghosts;

    if (r->overcommit)
        return check_whole_nodes(r, result, err);
    if (r->alloc_cpus == NULL)
        return check_largest(r, result, err);
    if (result->nodes > r->alloc_nnodes)
        return asp_errf(err, ERANGE,
                        "%" PRIu32 " nodes asked, but the "
                        "allocation has %" PRIu32,
                        result->nodes, r->alloc_nnodes);
    /* Which nodes a smaller step gets is Slurm's choice. */
    for (uint32_t i = 1; result->nodes < r->alloc_nnodes && i < r->alloc_nnodes;
         i++)
        if (r->alloc_cpus[i] != r->alloc_cpus[0])
            return 0;
    for (uint32_t i = 0; i < result->nodes; i++)
        capacity[i] = r->alloc_cpus[i] /
                      (r->cpus_per_task ? r->cpus_per_task : 1);
    deal(result->tasks, result->nodes, capacity,
         r->dist == ASP_EXPAND_PLANE && !result->block ? plane : 1, after);
    for (uint32_t i = 0; i < result->nodes; i++)
        if (capacity[i] < least || after[i] < least || after[i] > capacity[i])
            return no_room(r, result, i, err);
    return 0;
}

int asp_expand_tasks(const struct asp_expand_request *request,
                     struct asp_expand_result *out_p, struct asp_err *err)
{
    struct asp_expand_result result = {.users = 0};
    uint32_t *scratch;
    int rc = 0;

    if (check_request(request, err) < 0 || fix_nodes(request, &result, err) < 0)
        return -1;
    scratch = calloc((size_t) result.nodes * NSCRATCH, sizeof(*scratch));
    if (scratch == NULL)
        return asp_errf(err, ENOMEM, "out of memory");
    if (request->dist == ASP_EXPAND_PLANE)
        rc = fix_plane(request, &result, scratch, err);
    if (rc == 0)
        rc = check_room(request, &result, scratch, err);
    free(scratch);
    if (rc < 0)
        return -1;
    fix_room(request, &result);
    *out_p = result;
    return 0;
}
