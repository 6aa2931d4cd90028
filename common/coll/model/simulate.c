/* SPDX-License-Identifier: BSD-3-Clause */
/* The simulator: a queue of events in the order of time. What an event does is
 * known when its time has come, since processors and ports serve in the order
 * of arrival and nothing is taken back. */
#include "common/coll/model/simulate.h"
#include "common/coll/schedule/match.h"

#include <errno.h>
#include <stdlib.h>

/* What happens to a step, in the order in which it does at one time. */
enum kind {
    READY,  /* it wants the processor */
    INJECT, /* its message wants the out port */
    ARRIVE, /* its message (number: the RECV) wants the in port */
};

struct event {
    int64_t time;
    uint32_t number; /* of the step */
    uint32_t kind;   /* enum kind */
};

struct sim {
    const struct asp_coll_machine *machine;
    const uint32_t *node;
    struct asp_coll_graph graph;
    uint32_t *owner;   /* rank of a step */
    int64_t *ready;    /* by step: the latest of what it waited for */
    uint32_t *depth;   /* by step: messages in the longest chain before it */
    int64_t *busy;     /* by rank: the processor until then */
    int64_t *out, *in; /* by port: ranks inside, then nodes between */
    struct event *heap;
    uint32_t nheap;
    struct asp_coll_cost cost;
    int64_t limit;
    uint32_t done;
};

static bool earlier(const struct event *a, const struct event *b)
{
    if (a->time != b->time)
        return a->time < b->time;
    if (a->kind != b->kind)
        return a->kind < b->kind;
    return a->number < b->number;
}

/* At most one event per step is waiting, so the heap has room. */
static void push(struct sim *sim, struct event event)
{
    uint32_t i = sim->nheap++;

    while (i && earlier(&event, &sim->heap[(i - 1) / 2])) {
        sim->heap[i] = sim->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    sim->heap[i] = event;
}

static struct event pop(struct sim *sim)
{
    struct event first = sim->heap[0], last = sim->heap[--sim->nheap];
    uint32_t i = 0, child;

    while ((child = 2 * i + 1) < sim->nheap) {
        if (child + 1 < sim->nheap &&
            earlier(&sim->heap[child + 1], &sim->heap[child]))
            child++;
        if (!earlier(&sim->heap[child], &last))
            break;
        sim->heap[i] = sim->heap[child];
        i = child;
    }
    sim->heap[i] = last;
    return first;
}

static const struct asp_coll_step *step_of(const struct sim *sim,
                                           uint32_t number)
{
    uint32_t rank = sim->owner[number];

    return &sim->graph.schedules[rank].steps[number - sim->graph.base[rank]];
}

static bool crosses(const struct sim *sim, const struct asp_coll_step *step,
                    uint32_t rank)
{
    return sim->node && sim->node[rank] != sim->node[step->peer];
}

static uint32_t port_of(const struct sim *sim, uint32_t rank, bool between)
{
    return between ? sim->graph.ranks + sim->node[rank] : rank;
}

/* One thing less to wait for, since time. */
static void release(struct sim *sim, uint32_t number, int64_t time,
                    uint32_t depth)
{
    if (sim->ready[number] < time)
        sim->ready[number] = time;
    if (sim->depth[number] < depth)
        sim->depth[number] = depth;
    if (--sim->graph.waits[number] == 0)
        push(sim, (struct event){sim->ready[number], number, READY});
}

static void end_step(struct sim *sim, uint32_t number, int64_t time)
{
    const struct asp_coll_graph *g = &sim->graph;

    if (sim->cost.time < time)
        sim->cost.time = time;
    for (uint32_t i = g->first[number]; i < g->first[number + 1]; i++)
        release(sim, g->followers[i], time, sim->depth[number]);
    sim->done++;
}

static void begin_step(struct sim *sim, uint32_t number, int64_t time)
{
    const struct asp_coll_step *step = step_of(sim, number);
    const struct asp_coll_machine *m = sim->machine;
    uint32_t rank = sim->owner[number];
    bool message = step->action == ASP_COLL_SEND ||
                   step->action == ASP_COLL_RECV;
    int64_t each = step->action == ASP_COLL_REDUCE_LOCAL ? m->reduce : m->copy;
    int64_t cost = asp_coll_ps_times(each, step->bytes);

    if (message)
        cost = crosses(sim, step, rank) ? m->between.overhead
                                        : m->inside.overhead;
    if (sim->busy[rank] < time)
        sim->busy[rank] = time;
    sim->busy[rank] = asp_coll_ps_add(sim->busy[rank], cost);
    if (step->action == ASP_COLL_SEND)
        push(sim, (struct event){sim->busy[rank], number, INJECT});
    else
        end_step(sim, number, sim->busy[rank]);
}

/* A port serves a message, whose bytes take so long: when it takes it up. */
static int64_t serve(int64_t *port, int64_t time, const struct asp_coll_link *l,
                     int64_t length)
{
    int64_t start = *port < time ? time : *port;

    *port = asp_coll_ps_add(asp_coll_ps_add(start, l->gap), length);
    return start;
}

static void inject(struct sim *sim, uint32_t number, int64_t time)
{
    const struct asp_coll_step *step = step_of(sim, number);
    uint32_t rank = sim->owner[number];
    bool between = crosses(sim, step, rank);
    const struct asp_coll_link *l = between ? &sim->machine->between
                                            : &sim->machine->inside;
    uint64_t bytes = asp_coll_payload(step);
    int64_t length = asp_coll_ps_times(l->byte, bytes);
    int64_t start = serve(&sim->out[port_of(sim, rank, between)], time, l,
                          length);

    sim->cost.messages++;
    sim->cost.bytes += bytes;
    sim->cost.messages_between += between;
    sim->cost.bytes_between += between ? bytes : 0;
    push(sim, (struct event){asp_coll_ps_add(start, l->latency),
                             sim->graph.partner[number], ARRIVE});
    end_step(sim, number, asp_coll_ps_add(start, length));
}

static void arrive(struct sim *sim, uint32_t number, int64_t time)
{
    const struct asp_coll_step *step = step_of(sim, number);
    uint32_t rank = sim->owner[number];
    uint32_t depth = sim->depth[sim->graph.partner[number]] + 1;
    bool between = crosses(sim, step, rank);
    const struct asp_coll_link *l = between ? &sim->machine->between
                                            : &sim->machine->inside;
    int64_t length = asp_coll_ps_times(l->byte, asp_coll_payload(step));
    int64_t start = serve(&sim->in[port_of(sim, rank, between)], time, l,
                          length);

    if (sim->cost.rounds < depth)
        sim->cost.rounds = depth;
    release(sim, number, asp_coll_ps_add(start, length), depth);
}

static int give_up(void)
{
    errno = ETIME;
    return -1;
}

static int run(struct sim *sim)
{
    for (uint32_t n = 0; n < sim->graph.nsteps; n++)
        if (!sim->graph.waits[n])
            push(sim, (struct event){0, n, READY});
    while (sim->nheap) {
        struct event event = pop(sim);

        if (event.time > sim->limit || sim->cost.time > sim->limit)
            return give_up();
        if (event.kind == READY)
            begin_step(sim, event.number, event.time);
        else if (event.kind == INJECT)
            inject(sim, event.number, event.time);
        else
            arrive(sim, event.number, event.time);
    }
    if (sim->cost.time > sim->limit)
        return give_up();
    if (sim->done == sim->graph.nsteps)
        return 0;
    errno = EDEADLK;
    return -1;
}

/* A RECV waits for its message, too. */
static void fill(struct sim *sim)
{
    for (uint32_t r = 0; r < sim->graph.ranks; r++)
        for (uint32_t n = sim->graph.base[r]; n < sim->graph.base[r + 1]; n++) {
            sim->owner[n] = r;
            if (step_of(sim, n)->action == ASP_COLL_RECV)
                sim->graph.waits[n]++;
        }
}

static int prepare(struct sim *sim)
{
    uint32_t n = sim->graph.nsteps + 1, ranks = sim->graph.ranks;

    sim->owner = malloc(n * sizeof(*sim->owner));
    sim->ready = calloc(n, sizeof(*sim->ready));
    sim->depth = calloc(n, sizeof(*sim->depth));
    sim->heap = malloc((size_t) n * 2 * sizeof(*sim->heap));
    sim->busy = calloc(ranks, sizeof(*sim->busy));
    sim->out = calloc(2 * (size_t) ranks, sizeof(*sim->out));
    sim->in = calloc(2 * (size_t) ranks, sizeof(*sim->in));
    if (!sim->owner || !sim->ready || !sim->depth || !sim->heap || !sim->busy ||
        !sim->out || !sim->in) {
        errno = ENOMEM;
        return -1;
    }
    fill(sim);
    return 0;
}

static void destroy(struct sim *sim)
{
    int error = errno;

    free(sim->owner);
    free(sim->ready);
    free(sim->depth);
    free(sim->heap);
    free(sim->busy);
    free(sim->out);
    free(sim->in);
    asp_coll_graph_destroy(&sim->graph);
    errno = error;
}

int asp_coll_simulate(const struct asp_coll_machine *machine,
                      const uint32_t *node, uint32_t ranks,
                      const struct asp_coll_schedule *schedules, int64_t limit,
                      struct asp_coll_cost *cost_p)
{
    struct sim sim = {.machine = machine, .node = node, .limit = limit};
    uint64_t steps = 0;
    int rc = -1;

    for (uint32_t r = 0; r < ranks; r++)
        steps += schedules[r].nsteps;
    if (steps > ASP_COLL_SIMULATE_STEPS) {
        errno = E2BIG;
        return -1;
    }
    if (asp_coll_graph_make(schedules, ranks, &sim.graph, NULL) == 0 &&
        prepare(&sim) == 0)
        rc = run(&sim);
    if (rc == 0)
        *cost_p = sim.cost;
    destroy(&sim);
    return rc;
}
