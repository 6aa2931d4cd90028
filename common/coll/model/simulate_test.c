/* SPDX-License-Identifier: BSD-3-Clause */
/* The simulator against formulas of LogGP, and against a second one: that has
 * no queue, no graph, and finds what happens next by looking at everything. */
#include "common/coll/model/bound.h"
#include "common/coll/model/fit.h"
#include "common/coll/schedule/nodes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { RANKS = 9, STEPS = 40 };

static uint64_t seed = 0x2545f4914f6cdd1du;

static uint32_t draw(uint32_t below)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t) (seed >> 20) % below;
}

static const struct asp_coll_machine odd = {
    .name = "odd",
    .inside = {50, 7, 3, 2},
    .between = {400, 30, 45, 5},
    .copy = 1,
    .reduce = 3,
};

/* ---- The second simulator: states of steps, and the earliest next event. */

enum state { WAITING, WANTS_CPU, WANTS_PORT, FLYING, CAME, DONE };

struct slow {
    const struct asp_coll_machine *m;
    const uint32_t *node;
    uint32_t ranks;
    const struct asp_coll_schedule *s;
    enum state state[RANKS][STEPS];
    int64_t when[RANKS][STEPS];       /* of the state, or the end */
    enum state message[RANKS][STEPS]; /* of a RECV: FLYING, CAME, WAITING */
    int64_t came[RANKS][STEPS];
    int64_t cpu[RANKS], port[2][2][RANKS]; /* out or in, inside or between */
};

/* Do two steps of a rank touch the same bytes, and one writes them? */
static bool touch(const struct asp_coll_step *a, const struct asp_coll_step *b)
{
    bool ar = a->action != ASP_COLL_RECV, aw = a->action != ASP_COLL_SEND;
    bool br = b->action != ASP_COLL_RECV, bw = b->action != ASP_COLL_SEND;
#define OVER(ab, ao, bb, bo)                                                   \
    (ab == bb && ao < bo + b->bytes && bo < ao + a->bytes)
    return (ar && bw && OVER(a->from_buffer, a->from, b->to_buffer, b->to)) ||
           (aw && br && OVER(a->to_buffer, a->to, b->from_buffer, b->from)) ||
           (aw && bw && OVER(a->to_buffer, a->to, b->to_buffer, b->to));
#undef OVER
}

/* When step i of rank r may begin, or -1: not known yet. */
static int64_t may_begin(const struct slow *w, uint32_t r, uint32_t i)
{
    const struct asp_coll_step *steps = w->s[r].steps;
    int64_t time = 0;

    for (uint32_t j = 0; j < i; j++) {
        if (!touch(&steps[j], &steps[i]))
            continue;
        if (w->state[r][j] != DONE)
            return -1;
        time = time > w->when[r][j] ? time : w->when[r][j];
    }
    if (steps[i].action != ASP_COLL_RECV)
        return time;
    if (w->message[r][i] != CAME)
        return -1;
    return time > w->came[r][i] ? time : w->came[r][i];
}

static bool is_between(const struct slow *w, uint32_t one, uint32_t other)
{
    return w->node[one] != w->node[other];
}

/* A candidate for the next event. */
struct next {
    int64_t time;
    int kind; /* 0 processor, 1 out port, 2 in port */
    uint32_t rank, step;
};

static bool before(const struct next *a, const struct next *b)
{
    if (a->time != b->time)
        return a->time < b->time;
    if (a->kind != b->kind)
        return a->kind < b->kind;
    return a->rank != b->rank ? a->rank < b->rank : a->step < b->step;
}

static bool find_next(struct slow *w, struct next *best)
{
    bool found = false;

    for (uint32_t r = 0; r < w->ranks; r++)
        for (uint32_t i = 0; i < w->s[r].nsteps; i++) {
            struct next next = {w->when[r][i], 0, r, i};

            if (w->state[r][i] == WAITING)
                next.time = may_begin(w, r, i);
            else if (w->state[r][i] == WANTS_PORT)
                next.kind = 1;
            else
                next.time = -1;
            if (next.time >= 0 && (!found || before(&next, best)))
                *best = next, found = true;
            next = (struct next){w->came[r][i], 2, r, i};
            if (w->message[r][i] == FLYING && (!found || before(&next, best)))
                *best = next, found = true;
        }
    return found;
}

static uint32_t find_recv(const struct slow *w, uint32_t from, uint32_t to,
                          uint32_t round)
{
    uint32_t i = 0;

    while (w->s[to].steps[i].action != ASP_COLL_RECV ||
           w->s[to].steps[i].peer != from || w->s[to].steps[i].round != round)
        i++;
    return i;
}

static int64_t *port_of(struct slow *w, int config, uint32_t rank, bool between)
{
    return &w->port[config][between][between ? w->node[rank] : rank];
}

static void do_next(struct slow *w, const struct next *e)
{
    const struct asp_coll_step *step = &w->s[e->rank].steps[e->step];
    bool message = step->action == ASP_COLL_SEND ||
                   step->action == ASP_COLL_RECV;
    bool between = message && is_between(w, e->rank, step->peer);
    const struct asp_coll_link *l = between ? &w->m->between : &w->m->inside;
    int64_t n = message ? (int64_t) asp_coll_payload(step) : 0, at, cost;
    int64_t *busy;

    if (e->kind == 0) {
        cost = step->action == ASP_COLL_COPY
                   ? w->m->copy * (int64_t) step->bytes
               : step->action == ASP_COLL_REDUCE_LOCAL
                   ? w->m->reduce * (int64_t) step->bytes
                   : l->overhead;
        at = e->time > w->cpu[e->rank] ? e->time : w->cpu[e->rank];
        w->cpu[e->rank] = w->when[e->rank][e->step] = at + cost;
        w->state[e->rank][e->step] = step->action == ASP_COLL_SEND ? WANTS_PORT
                                                                   : DONE;
        return;
    }
    busy = port_of(w, e->kind - 1, e->rank, between);
    at = e->time > *busy ? e->time : *busy;
    *busy = at + l->gap + n * l->byte;
    if (e->kind == 1) {
        uint32_t i = find_recv(w, e->rank, step->peer, step->round);

        w->state[e->rank][e->step] = DONE;
        w->when[e->rank][e->step] = at + n * l->byte;
        w->message[step->peer][i] = FLYING;
        w->came[step->peer][i] = at + l->latency;
    } else {
        w->message[e->rank][e->step] = CAME;
        w->came[e->rank][e->step] = at + n * l->byte;
    }
}

static int64_t slow_time(struct slow *w)
{
    struct next next = {0};
    int64_t time = 0;

    while (find_next(w, &next))
        do_next(w, &next);
    for (uint32_t r = 0; r < w->ranks; r++)
        for (uint32_t i = 0; i < w->s[r].nsteps; i++) {
            assert_int_equal(w->state[r][i], DONE);
            time = time > w->when[r][i] ? time : w->when[r][i];
        }
    return time;
}

/* ---- Random schedules: messages in a global order cannot wait in a circle. */

static void add_message(struct asp_coll_schedule *s, uint32_t ranks,
                        uint32_t round)
{
    uint32_t from = draw(ranks), step = 1 + draw(ranks - 1);
    uint32_t to = (from + step) % ranks;
    size_t bytes = 1 + draw(40);

    asp_coll_send(&s[from], to, round, asp_coll_at(ASP_COLL_OUT, draw(60)),
                  bytes);
    asp_coll_recv(&s[to], from, round, asp_coll_at(ASP_COLL_OUT, draw(60)),
                  bytes);
}

/* COPY from the result to scratch memory, or REDUCE back. */
static void add_local(struct asp_coll_schedule *s, bool reduce)
{
    struct asp_coll_place out = asp_coll_at(ASP_COLL_OUT, draw(30));
    struct asp_coll_place scratch = asp_coll_at(ASP_COLL_SCRATCH, draw(9));
    size_t bytes = 1 + draw(30);

    if (reduce)
        asp_coll_reduce_local(s, scratch, out, bytes);
    else
        asp_coll_copy(s, out, scratch, bytes);
}

static void make_random(struct asp_coll_schedule *s, uint32_t ranks,
                        uint32_t *node)
{
    uint32_t messages = 1 + draw(4 * ranks);

    for (uint32_t r = 0; r < ranks; r++) {
        asp_coll_reset(&s[r]);
        node[r] = draw(3) % ranks;
    }
    for (uint32_t i = 0; i < messages; i++) {
        struct asp_coll_schedule *one = &s[draw(ranks)];

        add_message(s, ranks, i);
        if (draw(2))
            add_local(one, false);
        if (draw(2))
            add_local(one, true);
    }
    for (uint32_t r = 0; r < ranks; r++)
        assert_int_equal(asp_coll_finish(&s[r]), 0);
}

static bool is_small(const struct asp_coll_schedule *s, uint32_t ranks)
{
    for (uint32_t r = 0; r < ranks; r++)
        if (s[r].nsteps > STEPS)
            return false;
    return true;
}

static void test_second(void **state)
{
    static struct asp_coll_schedule s[RANKS];
    uint32_t node[RANKS], tried = 0;

    (void) state;
    while (tried < 300) {
        uint32_t ranks = 2 + draw(RANKS - 1);
        struct slow *w = calloc(1, sizeof(*w));
        struct asp_coll_cost cost;

        assert_non_null(w);
        make_random(s, ranks, node);
        if (is_small(s, ranks)) {
            *w = (struct slow){.m = &odd, .node = node, .ranks = ranks, .s = s};
            assert_int_equal(
                asp_coll_simulate(&odd, node, ranks, s, INT64_MAX, &cost), 0);
            assert_int_equal(cost.time, slow_time(w));
            tried++;
        }
        free(w);
    }
    for (uint32_t r = 0; r < RANKS; r++)
        asp_coll_destroy(&s[r]);
}

/* ---- What LogGP says of some algorithms. */

static int64_t predict(const char *text, uint32_t ranks, size_t bytes,
                       struct asp_coll_cost *cost)
{
    static uint32_t node[64];
    struct asp_coll_config config;
    struct asp_err err;
    struct asp_coll_problem p = {.ranks = ranks,
                                 .bytes = bytes,
                                 .element_size = 1,
                                 .commutative = true,
                                 .node = node};

    for (uint32_t r = 0; r < 64; r++)
        node[r] = r;
    assert_int_equal(asp_coll_config_parse(text, &config, &err), 0);
    p.op = config.row->op;
    assert_int_equal(asp_coll_predict(&odd, &config, &p, 1, cost, &err), 0);
    return cost->time;
}

static void test_formulas(void **state)
{
    const struct asp_coll_link *l = &odd.between;
    int64_t one = l->latency + 2 * l->overhead;
    struct asp_coll_cost cost;

    (void) state;
    assert_int_equal(predict("bcast:tree=kary,k=1", 2, 10, &cost),
                     one + 10 * l->byte);
    assert_int_equal(predict("bcast:tree=kary,k=1", 9, 10, &cost),
                     8 * (one + 10 * l->byte));
    assert_int_equal(cost.rounds, 8);
    assert_int_equal(cost.messages_between, 8);
    assert_int_equal(cost.bytes_between, 80);
    /* A flat tree: the port gives way to a message every g + n G. */
    assert_int_equal(predict("bcast:tree=kary,k=16", 9, 10, &cost),
                     one + 10 * l->byte + 7 * (l->gap + 10 * l->byte));
    /* The binomial tree of 8: three messages down the first branch. */
    assert_int_equal(predict("bcast:tree=knomial,k=2", 8, 0, &cost), 0);
    assert_int_equal(predict("bcast:tree=knomial,k=2", 8, 1, &cost),
                     3 * (one + l->byte));
    /* A pipelined chain. */
    assert_true(predict("bcast:tree=kary,k=1,segment=100", 9, 1000, &cost) <
                predict("bcast:tree=kary,k=1", 9, 1000, &cost));
    assert_int_equal(predict("barrier:dissemination,k=2", 8, 0, &cost),
                     3 * one);
}

/* The largest constants that a table may have: times stay in their order. */
static void test_large_constants(void **state)
{
    const struct asp_coll_link slow = {
        .latency = ASP_COLL_LINK_PS_MAX,
        .overhead = ASP_COLL_LINK_PS_MAX,
        .gap = ASP_COLL_LINK_PS_MAX,
        .byte = ASP_COLL_LINK_PS_MAX,
    };
    const struct asp_coll_machine machine = {
        .name = "slow",
        .inside = slow,
        .between = slow,
        .copy = ASP_COLL_LINK_PS_MAX,
        .reduce = ASP_COLL_LINK_PS_MAX,
    };
    static const char *const texts[] = {
        "allreduce:ring", "allreduce:exchange,k=4", "allreduce:tree=kary,k=2"};

    (void) state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        int64_t before = 0;

        for (int bits = 4; bits < 48; bits += 4) {
            struct asp_coll_problem p = {.op = ASP_COLL_ALLREDUCE,
                                         .ranks = 32,
                                         .bytes = (size_t) 1 << bits,
                                         .element_size = 8,
                                         .commutative = true};
            struct asp_coll_nodes nodes;
            struct asp_coll_cost cost;
            struct asp_coll_config config;
            struct asp_err err;
            int64_t bound;

            assert_int_equal(asp_coll_config_parse(texts[i], &config, &err), 0);
            assert_int_equal(
                asp_coll_predict(&machine, &config, &p, 1, &cost, &err), 0);
            assert_true(cost.time >= before);
            before = cost.time;
            assert_int_equal(asp_coll_nodes_make(NULL, p.ranks, &nodes), 0);
            bound = asp_coll_bound(&machine, &config, &p, &nodes, INT64_MAX);
            assert_in_range(bound, 1, cost.time);
            asp_coll_nodes_destroy(&nodes);
        }
        assert_int_equal(before, INT64_MAX);
    }
}

static void test_refusals(void **state)
{
    struct asp_coll_schedule s[2] = {{0}};
    struct asp_coll_cost cost;

    (void) state;
    /* Both receive first into what they send afterwards. */
    for (uint32_t r = 0; r < 2; r++) {
        asp_coll_recv(&s[r], 1 - r, 0, asp_coll_at(ASP_COLL_OUT, 0), 4);
        asp_coll_send(&s[r], 1 - r, 0, asp_coll_at(ASP_COLL_OUT, 0), 4);
        assert_int_equal(asp_coll_finish(&s[r]), 0);
    }
    assert_int_equal(asp_coll_simulate(&odd, NULL, 2, s, INT64_MAX, &cost), -1);
    for (uint32_t r = 0; r < 2; r++)
        asp_coll_destroy(&s[r]);
    assert_null(asp_coll_machine_find("abacus"));
    assert_non_null(asp_coll_machine_find("sun"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_second),
        cmocka_unit_test(test_formulas),
        cmocka_unit_test(test_large_constants),
        cmocka_unit_test(test_refusals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
