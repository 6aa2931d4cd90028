/* SPDX-License-Identifier: BSD-3-Clause */
/* Topology, request and ranks -> layout of a node; rules in plan.h, the choice
 * of cores in place.c. */
#include "plan.h"
#include "place.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int check_request(const struct asp_plan_request *request,
                         struct asp_err *err)
{
    uint64_t size = 0;

    if (!request->nnodes || request->node >= request->nnodes)
        return asp_errf(err, EINVAL, "node %" PRIu32 " of %" PRIu32 " nodes",
                        request->node, request->nnodes);
    if (request->mode == ASP_MODE_AUTO ||
        (request->mode == ASP_MODE_GHOST) != (request->ghosts_per_node > 0))
        return asp_errf(err, EINVAL, "mode %s with %" PRIu32 " ghosts per node",
                        asp_mode_name(request->mode), request->ghosts_per_node);
    for (uint32_t n = 0; n < request->nnodes; n++) {
        uint32_t ntasks = request->nodes[n].ntasks;

        size += ntasks;
        if (ntasks <= request->ghosts_per_node)
            return asp_errf(err, EINVAL,
                            "node %" PRIu32 " has %" PRIu32 " tasks: %" PRIu32
                            " ghosts leave no user there; "
                            "ask for fewer ghosts or more tasks",
                            n, ntasks, request->ghosts_per_node);
    }
    if (size > ASP_RANKS_MAX ||
        request->nodes[request->node].ntasks > ASP_TASKS_MAX)
        return asp_errf(err, EINVAL, "more than %d tasks, or %d on a node",
                        ASP_RANKS_MAX, ASP_TASKS_MAX);
    return 0;
}

static int copy_nodes(const struct asp_plan_request *request,
                      struct asp_layout *layout)
{
    layout->nodes = calloc(request->nnodes, sizeof(layout->nodes[0]));
    if (!layout->nodes)
        return -1;
    layout->nnodes = request->nnodes;
    for (uint32_t n = 0; n < request->nnodes; n++) {
        const struct asp_layout_node *from = &request->nodes[n];
        struct asp_layout_node *to = &layout->nodes[n];
        size_t bytes = from->ntasks * sizeof(to->ranks_world[0]);

        memcpy(to->name, from->name, sizeof(to->name));
        to->ranks_world = malloc(bytes);
        if (!to->ranks_world)
            return -1;
        memcpy(to->ranks_world, from->ranks_world, bytes);
        to->ntasks = from->ntasks;
        layout->size_world += from->ntasks;
    }
    return 0;
}

/* User ranks of the local tasks: one pass over the step. */
static int fill_user_ranks(struct asp_layout *layout)
{
    bool *ghost = calloc(layout->size_world, sizeof(*ghost));
    uint32_t next = 0, users = 0;

    if (!ghost)
        return -1;
    for (uint32_t n = 0; n < layout->nnodes; n++) {
        const struct asp_layout_node *node = &layout->nodes[n];

        for (uint32_t i = node->ntasks - layout->ghosts_per_node;
             i < node->ntasks; i++) {
            if (node->ranks_world[i] < layout->size_world)
                ghost[node->ranks_world[i]] = true;
        }
    }
    for (uint32_t t = 0; t < layout->ntasks; t++) {
        struct asp_layout_task *task = &layout->tasks[t];

        for (; next < task->rank_world && next < layout->size_world; next++)
            users += !ghost[next];
        if (task->role == ASP_ROLE_USER)
            task->rank_user = users;
    }
    free(ghost);
    return 0;
}

/* Roles and ranks, without CPUs: users are dealt to the ghosts in runs. */
static int fill_tasks(struct asp_layout *layout)
{
    const struct asp_layout_node *node = &layout->nodes[layout->node];
    uint32_t ghosts = layout->ghosts_per_node;
    uint32_t users = node->ntasks - ghosts;

    layout->tasks = calloc(node->ntasks, sizeof(layout->tasks[0]));
    if (!layout->tasks)
        return -1;
    layout->ntasks = node->ntasks;
    for (uint32_t t = 0; t < layout->ntasks; t++) {
        struct asp_layout_task *task = &layout->tasks[t];

        task->rank_world = node->ranks_world[t];
        task->rank_user = ASP_RANK_NONE;
        task->ghost = ASP_RANK_NONE;
        task->role = t < users ? ASP_ROLE_USER : ASP_ROLE_GHOST;
        if (t < users && ghosts)
            task->ghost = node->ranks_world[users + t * ghosts / users];
        task->numa = -1;
        task->cpu_helper_os = -1;
    }
    return fill_user_ranks(layout);
}

static struct asp_layout *make_layout(const struct asp_plan_request *request)
{
    struct asp_layout *layout = calloc(1, sizeof(*layout));

    if (!layout)
        return NULL;
    layout->version = ASP_LAYOUT_VERSION;
    snprintf(layout->job, sizeof(layout->job), "%s",
             request->job ? request->job : "");
    layout->mode = request->mode;
    asp_knobs_init(&layout->knobs, layout->mode == ASP_MODE_OFF);
    layout->ghosts_per_node = request->ghosts_per_node;
    layout->node = request->node;
    if (copy_nodes(request, layout) || fill_tasks(layout)) {
        asp_layout_destroy(layout);
        return NULL;
    }
    return layout;
}

static void add_core(const struct asp_core *core, struct asp_cpuset *cpus)
{
    for (uint32_t i = 0; i < core->ncpus; i++) {
        if (core->allowed[i])
            asp_cpuset_add(cpus, core->cpu_os[i]);
    }
}

static uint32_t last_cpu(const struct asp_core *core)
{
    uint32_t i = core->ncpus;

    while (i > 1 && !core->allowed[i - 1])
        i--;
    return core->cpu_os[i - 1];
}

static void remove_cpu(struct asp_cpuset *set, uint32_t cpu_os)
{
    set->word[cpu_os / 64] &= ~(UINT64_C(1) << (cpu_os % 64));
}

/* The domain that most cores of a run are in. */
static int numa_of_run(const struct asp_topo *topo, const uint32_t *run,
                       uint32_t count)
{
    uint32_t best = 0, best_count = 0;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t numa = topo->cores[run[i]].numa_log, same = 0;

        for (uint32_t j = 0; j < count; j++)
            same += topo->cores[run[j]].numa_log == numa;
        if (same > best_count) {
            best = numa;
            best_count = same;
        }
    }
    return (int) best;
}

/* An offload thread sits on the last core of its task's run; on one thread of
 * it where the policy says smt=use, or share and there is no other core. */
static void set_offload_cpu(const struct asp_topo *topo, const uint32_t *run,
                            uint32_t count,
                            const struct asp_plan_request *request,
                            struct asp_layout_task *task)
{
    const struct asp_core *core = &topo->cores[run[count - 1]];
    bool alone = count < 2;

    if (core->nallowed >= 2 &&
        (request->use_threads || (request->share && alone))) {
        task->cpu_helper_os = (int) last_cpu(core);
        remove_cpu(&task->cpus, (uint32_t) task->cpu_helper_os);
    } else if (!alone) {
        for (uint32_t i = 0; i < core->ncpus; i++)
            remove_cpu(&task->cpus, core->cpu_os[i]);
        for (uint32_t i = core->ncpus; i-- > 0;) {
            if (core->allowed[i])
                task->cpu_helper_os = (int) core->cpu_os[i];
        }
    } else if (request->share) {
        task->cpu_helper_os = (int) last_cpu(core);
    }
}

static uint32_t count_helpers(const struct asp_plan_request *request)
{
    return request->mode == ASP_MODE_THREAD ? request->service_cores
                                            : request->ghosts_per_node;
}

static void seat_users(const struct asp_topo *topo,
                       const struct asp_place *place,
                       const struct asp_plan_request *request,
                       struct asp_layout *layout)
{
    for (uint32_t u = 0; u < place->nusers; u++) {
        struct asp_layout_task *task = &layout->tasks[u];
        const uint32_t *run = &place->free_cores[place->first[u]];

        for (uint32_t i = 0; i < place->run; i++)
            add_core(&topo->cores[run[i]], &task->cpus);
        task->numa = numa_of_run(topo, run, place->run);
        if (layout->mode == ASP_MODE_OFFLOAD || request->offload)
            set_offload_cpu(topo, run, place->run, request, task);
    }
}

/* CPUs of helper h. On a core shared with a user: its last thread alone, and
 * the user keeps the others; the same CPU where there is but one. */
static void seat_helper(const struct asp_topo *topo,
                        const struct asp_place *place, uint32_t h,
                        struct asp_layout *layout, struct asp_cpuset *cpus)
{
    const struct asp_core *core = &topo->cores[place->helpers[h]];

    if (!place->shared) {
        add_core(core, cpus);
        return;
    }
    asp_cpuset_add(cpus, last_cpu(core));
    if (core->nallowed < 2)
        return;
    for (uint32_t u = 0; u < place->nusers; u++)
        remove_cpu(&layout->tasks[u].cpus, last_cpu(core));
}

static void seat_helpers(const struct asp_topo *topo,
                         const struct asp_place *place,
                         struct asp_layout *layout)
{
    for (uint32_t h = 0; h < place->nhelpers; h++) {
        if (layout->mode == ASP_MODE_GHOST) {
            struct asp_layout_task *task = &layout->tasks[place->nusers + h];

            task->numa = (int) topo->cores[place->helpers[h]].numa_log;
            seat_helper(topo, place, h, layout, &task->cpus);
        } else {
            seat_helper(topo, place, h, layout, &layout->service);
        }
    }
}

/* Each user's main ghost: nearest domain, then fewest users, then first. */
static int choose_ghosts(const struct asp_topo *topo, struct asp_layout *layout)
{
    uint32_t ghosts = layout->ghosts_per_node;
    uint32_t users = layout->ntasks - ghosts;
    uint32_t *load = calloc(ghosts + 1, sizeof(*load));

    if (!load)
        return -1;
    for (uint32_t u = 0; ghosts && u < users; u++) {
        uint32_t best = 0, best_far = UINT32_MAX;

        for (uint32_t g = 0; g < ghosts; g++) {
            uint32_t far = asp_topo_distance(
                topo, (uint32_t) layout->tasks[u].numa,
                (uint32_t) layout->tasks[users + g].numa);

            if (far < best_far || (far == best_far && load[g] < load[best])) {
                best = g;
                best_far = far;
            }
        }
        layout->tasks[u].ghost = layout->tasks[users + best].rank_world;
        load[best]++;
    }
    free(load);
    return 0;
}

static void set_reason(struct asp_layout *layout, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void set_reason(struct asp_layout *layout, const char *fmt, ...)
{
    va_list args;

    if (layout->reason[0])
        return; /* the first one said is the one that counts */
    va_start(args, fmt);
    vsnprintf(layout->reason, sizeof(layout->reason), fmt, args);
    va_end(args);
}

static const char *plural(uint32_t count)
{
    return count == 1 ? "" : "s";
}

/* The same machine with each CPU of the step as a core of its own. */
static struct asp_topo *split_threads(const struct asp_topo *topo)
{
    struct asp_topo *split = calloc(1, sizeof(*split));
    uint32_t n = 0;

    if (!split)
        return NULL;
    *split = *topo;
    split->distance = NULL; /* is asked of topo */
    split->cores = calloc(asp_cpuset_count(&topo->allowed) + 1,
                          sizeof(split->cores[0]));
    if (!split->cores) {
        free(split);
        return NULL;
    }
    for (uint32_t c = 0; c < topo->ncores; c++) {
        const struct asp_core *core = &topo->cores[c];

        for (uint32_t i = 0; i < core->ncpus; i++) {
            if (!core->allowed[i])
                continue;
            split->cores[n] = *core;
            split->cores[n].ncpus = split->cores[n].nallowed = 1;
            split->cores[n].cpu_os[0] = core->cpu_os[i];
            split->cores[n].allowed[0] = true;
            n++;
        }
    }
    split->ncores = n;
    return split;
}

/* Place on topo and seat everybody.
 * Returns 0, or -1 with errno ENOSPC (it does not fit) or ENOMEM. */
static int seat_on(const struct asp_topo *topo,
                   const struct asp_plan_request *request, bool share,
                   struct asp_layout *layout)
{
    uint32_t users = layout->ntasks - layout->ghosts_per_node;
    struct asp_place place = {0};
    int rc = asp_place(topo, users, count_helpers(request), request->spread,
                       share, &place);
    int saved = errno;

    if (!rc) {
        seat_users(topo, &place, request, layout);
        seat_helpers(topo, &place, layout);
    }
    asp_place_clear(&place);
    errno = saved;
    return rc;
}

/* What the policy allows, mildest first: whole cores for everybody; single
 * threads; helpers on users' cores; on users' threads. */
static int seat_somehow(const struct asp_topo *topo,
                        const struct asp_plan_request *request,
                        struct asp_layout *layout)
{
    struct asp_topo *threads = NULL;
    int rc = seat_on(topo, request, false, layout);

    if (rc && errno == ENOSPC && request->use_threads) {
        threads = split_threads(topo);
        if (!threads)
            return -1;
        rc = seat_on(threads, request, false, layout);
    }
    if (rc && errno == ENOSPC && request->share)
        rc = seat_on(topo, request, true, layout);
    if (rc && errno == ENOSPC && request->share && threads)
        rc = seat_on(threads, request, true, layout);
    asp_topo_destroy(threads);
    return rc;
}

static void set_full(const struct asp_topo *topo,
                     const struct asp_plan_request *request,
                     struct asp_layout *layout)
{
    uint32_t users = layout->ntasks - layout->ghosts_per_node, cores = 0;
    uint32_t helpers = count_helpers(request);
    char more[64] = "";

    for (uint32_t c = 0; c < topo->ncores; c++)
        cores += topo->cores[c].nallowed > 0;
    if (helpers)
        snprintf(more, sizeof(more), " and %" PRIu32 " %s%s", helpers,
                 layout->mode == ASP_MODE_THREAD ? "service core" : "ghost",
                 plural(helpers));
    set_reason(layout,
               "%" PRIu32 " core%s for %" PRIu32
               " user%s%s: ask for more CPUs or fewer tasks on each node",
               cores, plural(cores), users, plural(users), more);
}

static int seat(const struct asp_topo *topo,
                const struct asp_plan_request *request,
                struct asp_layout *layout)
{
    if (!seat_somehow(topo, request, layout)) {
        layout->bound = true;
        return choose_ghosts(topo, layout);
    }
    if (errno != ENOSPC)
        return -1;
    set_full(topo, request, layout);
    return 0;
}

static void settle_bound(const struct asp_topo *topo,
                         const struct asp_plan_request *request,
                         struct asp_layout *layout)
{
    if (!topo)
        set_reason(layout, "%s",
                   request->reason && request->reason[0]
                       ? request->reason
                       : "the topology is not known");
    else if (!topo->real)
        set_reason(layout, "pretended CPUs");
    else if (!request->may_bind)
        set_reason(layout, "%s",
                   request->reason && request->reason[0]
                       ? request->reason
                       : "binding is not wanted");
    if (layout->reason[0])
        layout->bound = false;
    else if (layout->mode == ASP_MODE_OFFLOAD &&
             layout->tasks[0].cpu_helper_os < 0)
        set_reason(layout, "no CPU for the offload threads: ask for one "
                           "more per task (-c)");
}

int asp_plan(const struct asp_topo *topo,
             const struct asp_plan_request *request, struct asp_layout **out_p,
             struct asp_err *err)
{
    struct asp_layout *layout;

    if (check_request(request, err))
        return -1;
    layout = make_layout(request);
    if (!layout || (topo && seat(topo, request, layout))) {
        asp_layout_destroy(layout);
        return asp_errf(err, ENOMEM, "out of memory");
    }
    settle_bound(topo, request, layout);
    *out_p = layout;
    return 0;
}
