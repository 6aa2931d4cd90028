/* SPDX-License-Identifier: BSD-3-Clause */
/* Choice: the ways of a row and an across are a grid, on which the search goes
 * along one axis after the other. */
#include "common/coll/choose.h"
#include "common/coll/mpich.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t STEPS_DEFAULT = UINT64_C(1) << 20;

struct search {
    const struct asp_coll_machine *machine;
    const struct asp_coll_problem *problem;
    struct asp_coll_candidate *list;
    uint32_t n;
    uint64_t max_steps;
    int64_t best; /* time, ps */
    bool exhaustive;
    int error; /* that ends the search */
    struct asp_err *err;
};

static bool add(struct search *s, const struct asp_coll_way *way)
{
    uint32_t room = 64;
    struct asp_coll_candidate *list = s->list;

    while (room <= s->n)
        room *= 2;
    if (!(s->n & (s->n - 1)) && (s->n >= 64 || !s->n))
        list = realloc(s->list, room * sizeof(*list));
    if (!list) {
        asp_errf(s->err, ENOMEM, "out of memory");
        return false;
    }
    s->list = list;
    s->list[s->n++] = (struct asp_coll_candidate){.way = *way};
    return true;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* What the processor of a rank does at least, ps. */
static int64_t busy_of(const struct search *s, const struct asp_coll_way *way,
                       uint32_t rank)
{
    const struct asp_coll_machine *m = s->machine;
    int64_t overhead = least(m->inside.overhead, m->between.overhead), sum = 0;
    struct asp_coll_schedule schedule = {0};

    if (asp_coll_build(way, s->problem, rank, &schedule, NULL) < 0)
        return 0;
    for (uint32_t i = 0; i < schedule.nsteps; i++) {
        const struct asp_coll_step *step = &schedule.steps[i];

        if (step->action == ASP_COLL_COPY)
            sum += m->copy * (int64_t) step->bytes;
        else if (step->action == ASP_COLL_FOLD)
            sum += m->fold * (int64_t) step->bytes;
        else
            sum += overhead;
    }
    asp_coll_destroy(&schedule);
    return sum;
}

/* Messages one after the other down to the last rank of a tree of all, ps. */
static int64_t depth_of(const struct search *s, const struct asp_coll_way *way)
{
    const struct asp_coll_link *l = &s->machine->inside;
    const struct asp_coll_link *o = &s->machine->between;
    uint32_t n = s->problem->ranks;
    struct asp_coll_node node = {0};
    int64_t depth = 0;

    if (way->row->across || !(way->row->params & ASP_COLL_TREE))
        return 0;
    if (s->problem->bytes || s->problem->op == ASP_COLL_BARRIER)
        if (asp_coll_tree_find(&way->tree, n, n - 1, &node) == 0)
            depth = node.depth;
    asp_coll_node_destroy(&node);
    return depth *
           least(l->latency + 2 * l->overhead, o->latency + 2 * o->overhead);
}

/* Can it be as fast as limit? A look at few ranks. */
static bool is_hopeless(const struct search *s, const struct asp_coll_way *way,
                        int64_t limit)
{
    return limit < INT64_MAX && (depth_of(s, way) > limit ||
                                 busy_of(s, way, s->problem->root) > limit ||
                                 busy_of(s, way, 0) > limit);
}

/* Simulate a candidate, once. */
static void try_one(struct search *s, struct asp_coll_candidate *c)
{
    int64_t limit = INT64_MAX;

    if (c->fate != ASP_COLL_UNTRIED || s->error)
        return;
    if (!s->exhaustive && s->best < INT64_MAX / ASP_COLL_SLOWER)
        limit = s->best * ASP_COLL_SLOWER;
    if (is_hopeless(s, &c->way, limit)) {
        c->fate = ASP_COLL_SLOW;
        return;
    }
    if (asp_coll_predict_within(s->machine, &c->way, s->problem, 1, limit,
                                s->max_steps, &c->cost, s->err) == 0) {
        c->fate = ASP_COLL_OK;
        if (c->cost.time < s->best)
            s->best = c->cost.time;
    } else if (errno == ETIME) {
        c->fate = ASP_COLL_SLOW;
    } else if (errno == E2BIG || errno == ERANGE) {
        c->fate = ASP_COLL_LARGE;
    } else {
        s->error = errno;
    }
}

static bool same_tree(const struct asp_coll_tree *a,
                      const struct asp_coll_tree *b)
{
    return a->shape == b->shape && a->k == b->k &&
           memcmp(a->dims, b->dims, sizeof(a->dims)) == 0;
}

/* The axes in which two ways of a grid differ, as bits. */
static unsigned differ(const struct asp_coll_way *a,
                       const struct asp_coll_way *b)
{
    return (same_tree(&a->tree, &b->tree) ? 0u : 1u) |
           (a->segment == b->segment ? 0u : 2u) |
           (a->leaders == b->leaders ? 0u : 4u) |
           (a->inner == b->inner ? 0u : 8u);
}

static bool better(const struct asp_coll_candidate *a,
                   const struct asp_coll_candidate *b)
{
    if (a->fate != ASP_COLL_OK || b->fate != ASP_COLL_OK)
        return a->fate == ASP_COLL_OK && b->fate != ASP_COLL_OK;
    return a->cost.time < b->cost.time;
}

/* The best of those that differ from list[at] in one axis only. */
static uint32_t along(struct search *s, uint32_t first, uint32_t end,
                      uint32_t at, unsigned axis)
{
    uint32_t best = at;

    for (uint32_t i = first; i < end; i++) {
        if (i != at && differ(&s->list[i].way, &s->list[at].way) != axis)
            continue;
        try_one(s, &s->list[i]);
        if (better(&s->list[i], &s->list[best]))
            best = i;
    }
    return best;
}

/* From one way of the grid on; axes are taken upwards or downwards. */
static void climb(struct search *s, uint32_t first, uint32_t end, uint32_t at,
                  bool down)
{
    uint32_t before;

    do {
        before = at;
        for (unsigned i = 0; i < 4; i++)
            at = along(s, first, end, at, 1u << (down ? 3 - i : i));
    } while (at != before);
}

/* The grid first to end - 1: from both of its corners, since trees and segments
 * depend on each other: a chain is good with small segments only. */
static void search_grid(struct search *s, uint32_t first, uint32_t end)
{
    climb(s, first, end, first, false);
    climb(s, first, end, first, true);
    climb(s, first, end, end - 1, false);
    climb(s, first, end, end - 1, true);
}

static void search_all(struct search *s)
{
    uint32_t end;

    for (uint32_t first = 0; first < s->n; first = end) {
        const struct asp_coll_way *way = &s->list[first].way;

        for (end = first + 1; end < s->n && s->list[end].way.row == way->row &&
                              s->list[end].way.across == way->across;
             end++)
            ;
        if (!s->exhaustive)
            search_grid(s, first, end);
        for (uint32_t i = first; i < end && s->exhaustive; i++)
            try_one(s, &s->list[i]);
    }
}

/* What MPICH has comes first. */
static void try_mpich(struct search *s)
{
    const char *const *texts = asp_coll_mpich_ways(s->problem->op);
    struct asp_coll_way way;

    for (; *texts; texts++)
        for (uint32_t i = 0;
             i < s->n && asp_coll_way_parse(*texts, &way, NULL) == 0; i++)
            if (s->list[i].way.row == way.row &&
                s->list[i].way.across == way.across &&
                !differ(&s->list[i].way, &way))
                try_one(s, &s->list[i]);
}

static int rank_of(enum asp_coll_fate fate)
{
    static const int ranks[] = {
        [ASP_COLL_OK] = 0,
        [ASP_COLL_SLOW] = 1,
        [ASP_COLL_UNTRIED] = 2,
        [ASP_COLL_LARGE] = 3,
    };

    return ranks[fate];
}

/* Stable, for few things that are nearly all in order. */
static void sort(struct asp_coll_candidate *list, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        struct asp_coll_candidate c = list[i];
        uint32_t j = i;

        for (;
             j && (rank_of(c.fate) < rank_of(list[j - 1].fate) ||
                   (c.fate == ASP_COLL_OK && list[j - 1].fate == ASP_COLL_OK &&
                    c.cost.time < list[j - 1].cost.time));
             j--)
            list[j] = list[j - 1];
        list[j] = c;
    }
}

static int list_ways(struct search *s)
{
    struct asp_coll_ways ways = {0};

    while (asp_coll_ways_next(&ways, s->problem))
        if (!add(s, &ways.way))
            return -1;
    if (!s->n)
        return asp_errf(s->err, ENOTSUP, "there is no way to do this");
    return 0;
}

int asp_coll_choose(const struct asp_coll_machine *machine,
                    const struct asp_coll_problem *problem,
                    const struct asp_coll_effort *effort,
                    struct asp_coll_candidate **candidates_p, uint32_t *n_p,
                    struct asp_err *err)
{
    struct search s = {
        .machine = machine,
        .problem = problem,
        .max_steps = effort && effort->max_steps ? effort->max_steps
                                                 : STEPS_DEFAULT,
        .best = INT64_MAX,
        .exhaustive = effort && effort->exhaustive,
        .err = err,
    };
    int rc = list_ways(&s);

    if (rc == 0) {
        try_mpich(&s);
        search_all(&s);
        sort(s.list, s.n);
        if (s.error)
            rc = -1, errno = s.error;
        else if (s.list[0].fate != ASP_COLL_OK)
            rc = asp_errf(err, E2BIG, "too many ranks to simulate");
    }
    if (rc < 0) {
        free(s.list);
        return -1;
    }
    *candidates_p = s.list;
    *n_p = s.n;
    return 0;
}
