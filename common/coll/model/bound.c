/* SPDX-License-Identifier: BSD-3-Clause */
/* The bound: what a few ranks do is followed back through the ranks that they
 * hear from, with an empty stack of calls, since a ring is as long as the job.
 */
#include "common/coll/model/bound.h"
#include "common/coll/model/busy_period.h"
#include "common/coll/build/rows.h"

#include <stdlib.h>
#include <string.h>

/* Ranks that are built, but for those of a node, and steps of all of them: what
 * is beyond costs more than it prunes. */
enum { VISITS_FIRST = 8, VISITS_A_LEVEL = 3, STEPS_MAX = 1 << 18 };

/* Of fewer ranks nothing is followed: it would cost as much as to simulate. */
enum { RANKS_FOLLOWED = 24 };

static const uint32_t NONE = UINT32_MAX;

/* A step to be settled. */
struct call {
    uint32_t visited, step;
};

struct bound {
    const struct asp_coll_config *config;
    const struct asp_coll_problem *problem;
    const struct asp_coll_nodes *nodes;
    struct asp_coll_busy_periods busy; /* and the machine */
    struct asp_coll_visited *visits;
    uint32_t nvisits, capacity, most;
    uint64_t nsteps;
    struct call *calls;
    uint32_t ncalls, calls_capacity;
    int64_t best, limit;
    bool failed;
};

/* Is the need of two steps the same, so that they get ready at once? */
static bool same_needs(const struct asp_coll_schedule *s, uint32_t i,
                       uint32_t j)
{
    const struct asp_coll_step *a = &s->steps[i], *b = &s->steps[j];

    if (a->nneeds != b->nneeds)
        return false;
    return !a->nneeds ||
           memcmp(s->needs + a->needs_first, s->needs + b->needs_first,
                  a->nneeds * sizeof(*s->needs)) == 0;
}

/* A RECV also waits for its message, so it is in nobody's line. */
static void find_lines(struct asp_coll_visited *visited)
{
    uint32_t last = NONE;

    for (uint32_t i = 0; i < visited->s.nsteps; i++) {
        visited->marks[i].before = NONE;
        if (visited->s.steps[i].action == ASP_COLL_RECV)
            continue;
        if (last != NONE && same_needs(&visited->s, last, i))
            visited->marks[i].before = last;
        last = i;
    }
}

/* Build a rank, unless it is there. NONE: not possible. */
static uint32_t visit_rank(struct bound *b, uint32_t rank, uint32_t most)
{
    struct asp_coll_visited *visited;

    for (uint32_t i = 0; i < b->nvisits; i++)
        if (b->visits[i].rank == rank)
            return i;
    if (b->nvisits >= most || b->nvisits >= b->capacity ||
        b->nsteps > STEPS_MAX)
        return NONE;
    visited = &b->visits[b->nvisits];
    *visited = (struct asp_coll_visited){.rank = rank};
    if (asp_coll_make(b->config, b->problem, b->nodes, rank, &visited->s,
                      NULL) < 0) {
        asp_coll_destroy(&visited->s);
        return NONE;
    }
    b->nsteps += visited->s.nsteps;
    visited->marks = calloc(visited->s.nsteps + 1, sizeof(*visited->marks));
    if (!visited->marks) {
        asp_coll_destroy(&visited->s);
        b->failed = true;
        return NONE;
    }
    find_lines(visited);
    return b->nvisits++;
}

static bool is_send_of(const struct asp_coll_step *step, uint32_t to,
                       uint32_t round)
{
    return step->action == ASP_COLL_SEND && step->peer == to &&
           step->round == round;
}

/* The SEND that a RECV waits for: likely as far from it in the list as the one
 * that was found before, so the search goes outwards from there. */
static struct call partner_of(struct bound *b, struct call recv)
{
    struct asp_coll_visited *visited = &b->visits[recv.visited];
    struct asp_coll_step step = visited->s.steps[recv.step];
    uint32_t other = visit_rank(b, step.peer, b->most);
    const struct asp_coll_schedule *s;
    int64_t from = (int64_t) recv.step + visited->shift;

    if (other == NONE)
        return (struct call){NONE, NONE};
    s = &b->visits[other].s;
    from = from < 0 ? 0 : from >= s->nsteps ? s->nsteps - 1 : from;
    for (int64_t d = 0; d < s->nsteps; d++)
        for (int64_t at = from - d; at <= from + d; at += d ? 2 * d : 1)
            if (at >= 0 && at < s->nsteps &&
                is_send_of(&s->steps[at], visited->rank, step.round)) {
                visited->shift = at - (int64_t) recv.step;
                return (struct call){other, (uint32_t) at};
            }
    return (struct call){NONE, NONE};
}

static struct asp_coll_mark *mark_of(const struct bound *b, struct call at)
{
    return &b->visits[at.visited].marks[at.step];
}

static void push(struct bound *b, struct call at)
{
    uint32_t capacity = b->calls_capacity ? 2 * b->calls_capacity : 256;
    struct call *calls = b->calls;

    if (mark_of(b, at)->state != ASP_COLL_UNKNOWN)
        return;
    if (b->ncalls == b->calls_capacity) {
        calls = realloc(calls, capacity * sizeof(*calls));
        if (!calls) {
            b->failed = true;
            return;
        }
        b->calls = calls;
        b->calls_capacity = capacity;
    }
    mark_of(b, at)->state = ASP_COLL_OPEN;
    b->calls[b->ncalls++] = at;
}

/* The next thing that a step waits for is to be settled first. False: that was
 * all. */
static bool push_next(struct bound *b, struct call at)
{
    const struct asp_coll_schedule *s = &b->visits[at.visited].s;
    struct asp_coll_step step = s->steps[at.step];
    struct asp_coll_mark *mark = mark_of(b, at);
    uint32_t next = mark->next++;

    if (next < step.nneeds) {
        /* The deepest part of a tree first, while ranks may still be built:
         * what came last, and what came before what it is reduced into. */
        if (step.action != ASP_COLL_REDUCE_LOCAL)
            next = step.nneeds - 1 - next;
        push(b, (struct call){at.visited, s->needs[step.needs_first + next]});
        return true;
    }
    if (next == step.nneeds && mark->before != NONE) {
        push(b, (struct call){at.visited, mark->before});
        return true;
    }
    if (next <= step.nneeds + 1 && step.action == ASP_COLL_RECV &&
        !mark->asked) {
        struct call send = partner_of(b, at);

        mark->asked = true;
        mark->partner_visited = send.visited;
        mark->partner = send.step;
        if (send.visited != NONE)
            push(b, send);
        return true;
    }
    return next <= step.nneeds;
}

/* When the first byte of a message can be there. */
static int64_t arrival(const struct bound *b, const struct asp_coll_mark *mark,
                       const struct asp_coll_link *l)
{
    const struct asp_coll_mark *send;

    if (mark->partner_visited == NONE)
        return l->overhead + l->latency;
    send = &b->visits[mark->partner_visited].marks[mark->partner];
    if (send->state != ASP_COLL_KNOWN)
        return l->overhead + l->latency;
    return asp_coll_ps_add(send->port, l->latency);
}

static void settle_recv(const struct bound *b, struct asp_coll_mark *mark,
                        const struct asp_coll_link *l, size_t bytes)
{
    int64_t there;

    mark->port = arrival(b, mark, l);
    there = asp_coll_ps_add(mark->port, asp_coll_ps_times(l->byte, bytes));
    if (mark->ready < there)
        mark->ready = there;
    mark->end = mark->cpu = asp_coll_ps_add(mark->ready, l->overhead);
}

/* SEND, COPY, REDUCE: after those that got ready at the same time. */
static void settle_line(const struct bound *b, struct asp_coll_visited *visited,
                        uint32_t i)
{
    const struct asp_coll_step *step = &visited->s.steps[i];
    struct asp_coll_mark *mark = &visited->marks[i];
    const struct asp_coll_mark *before = NULL;
    bool between = asp_coll_crosses(&b->busy, visited->rank, step);
    const struct asp_coll_link *l = asp_coll_link_of(&b->busy, between);
    int64_t length = asp_coll_ps_times(l->byte, asp_coll_payload(step));

    if (mark->before != NONE &&
        visited->marks[mark->before].state == ASP_COLL_KNOWN)
        before = &visited->marks[mark->before];
    mark->cpu = mark->ready;
    if (before) {
        mark->cpu = before->cpu > mark->cpu ? before->cpu : mark->cpu;
        memcpy(mark->free, before->free, sizeof(mark->free));
    }
    mark->cpu = asp_coll_ps_add(mark->cpu,
                                asp_coll_work(&b->busy, visited->rank, step));
    mark->end = mark->cpu;
    if (step->action != ASP_COLL_SEND)
        return;
    mark->port = mark->cpu;
    if (mark->port < mark->free[between])
        mark->port = mark->free[between];
    mark->end = asp_coll_ps_add(mark->port, length);
    mark->free[between] = asp_coll_ps_add(mark->end, l->gap);
}

static void settle(struct bound *b, struct call at)
{
    struct asp_coll_visited *visited = &b->visits[at.visited];
    const struct asp_coll_step *step = &visited->s.steps[at.step];
    struct asp_coll_mark *mark = &visited->marks[at.step];

    mark->ready = asp_coll_busy_needs(&b->busy, visited, step);
    if (step->action == ASP_COLL_RECV)
        settle_recv(
            b, mark,
            asp_coll_link_of(&b->busy,
                             asp_coll_crosses(&b->busy, visited->rank, step)),
            asp_coll_payload(step));
    else
        settle_line(b, visited, at.step);
    mark->state = ASP_COLL_KNOWN;
}

static void visit(struct bound *b, struct call at)
{
    push(b, at);
    while (b->ncalls && !b->failed) {
        struct call top = b->calls[b->ncalls - 1];

        if (push_next(b, top))
            continue;
        settle(b, top);
        b->ncalls--;
    }
}

static bool is_enough(const struct bound *b)
{
    return b->failed || b->best > b->limit;
}

static void raise(struct bound *b, int64_t time)
{
    if (b->best < time)
        b->best = time;
}

/* All that a rank does, the last first. */
static void follow(struct bound *b, uint32_t rank)
{
    uint32_t at = visit_rank(b, rank, b->capacity);

    if (at == NONE)
        return;
    raise(b, asp_coll_busy_rank(&b->busy, &b->visits[at]));
    if (b->problem->ranks < RANKS_FOLLOWED)
        return;
    for (uint32_t i = b->visits[at].s.nsteps; i-- > 0 && !is_enough(b);)
        visit(b, (struct call){at, i});
    if (!is_enough(b))
        raise(b, asp_coll_busy_rank(&b->busy, &b->visits[at]));
}

/* What goes through the ports of a rank's node. */
static void follow_node(struct bound *b, uint32_t rank)
{
    const struct asp_coll_nodes *nodes = b->nodes;
    uint32_t node = nodes->of[rank];

    for (uint32_t i = nodes->first[node]; i < nodes->first[node + 1]; i++)
        if (visit_rank(b, nodes->members[i], b->capacity) == NONE)
            break;
    if (!is_enough(b))
        raise(b, asp_coll_busy_node(&b->busy, b->visits, b->nvisits, node));
}

static uint32_t levels_of(uint32_t n)
{
    uint32_t levels = 0;

    while (n >>= 1)
        levels++;
    return levels;
}

static void find(struct bound *b)
{
    uint32_t n = b->problem->ranks, root = b->problem->root;
    uint32_t ranks[] = {root, (root + n - 1) % n, n - 1, 0};

    for (size_t i = 0; i < sizeof(ranks) / sizeof(ranks[0]); i++)
        if (!is_enough(b))
            follow(b, ranks[i]);
    for (uint32_t i = 0; i < b->nvisits && !is_enough(b); i++)
        raise(b, asp_coll_busy_rank(&b->busy, &b->visits[i]));
    if (b->nodes->n > 1 && b->nodes->most > 1 && !is_enough(b))
        follow_node(b, root);
    if (b->nodes->n > 1 && b->nodes->most > 1 && !is_enough(b))
        follow_node(b, n - 1);
}

int64_t asp_coll_bound(const struct asp_coll_machine *machine,
                       const struct asp_coll_config *config,
                       const struct asp_coll_problem *problem,
                       const struct asp_coll_nodes *nodes, int64_t limit)
{
    uint32_t levels = levels_of(problem->ranks);
    struct bound b = {.config = config,
                      .problem = problem,
                      .nodes = nodes,
                      .busy = {.machine = machine, .nodes = nodes},
                      .limit = limit,
                      .most = VISITS_FIRST + VISITS_A_LEVEL * levels};

    b.capacity = b.most + 2 * nodes->most + 4;
    b.visits = malloc(b.capacity * sizeof(*b.visits));
    b.failed = !b.visits;
    if (!b.failed)
        find(&b);
    for (uint32_t i = 0; i < b.nvisits; i++) {
        asp_coll_destroy(&b.visits[i].s);
        free(b.visits[i].marks);
    }
    asp_coll_busy_destroy(&b.busy);
    free(b.visits);
    free(b.calls);
    return b.failed ? 0 : b.best;
}
