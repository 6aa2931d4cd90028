/* SPDX-License-Identifier: BSD-3-Clause */
/* Alltoall: each pair for itself, or Bruck's algorithm of radix k (allgather.c
 * has the source), in which blocks wait where they came to until they are sent
 * on: nothing is unpacked on the way. */
#include "common/coll/build/algorithms.h"

void asp_coll_add_pairs(struct asp_coll_maker *m,
                        const struct asp_coll_group *g,
                        const struct asp_coll_blocks *from,
                        const struct asp_coll_blocks *to)
{
    for (uint32_t i = 1; i < g->n; i++) {
        uint32_t next = (g->me + i) % g->n, last = (g->me + g->n - i) % g->n;

        asp_coll_send(m->s, asp_coll_rank(g, next), m->round,
                      asp_coll_block(from, next),
                      asp_coll_span(from, next, next + 1));
        asp_coll_recv(m->s, asp_coll_rank(g, last), m->round,
                      asp_coll_block(to, last),
                      asp_coll_span(to, last, last + 1));
    }
}

/* Copies that go on where the last one ended are one. */
struct run {
    struct asp_coll_schedule *s;
    struct asp_coll_place from, to;
    size_t bytes;
};

static void end_run(struct run *run)
{
    asp_coll_copy(run->s, run->from, run->to, run->bytes);
    run->bytes = 0;
}

static void add_to_run(struct run *run, struct asp_coll_place from,
                       struct asp_coll_place to, size_t bytes)
{
    if (run->bytes &&
        asp_coll_same(asp_coll_past(run->from, run->bytes), from) &&
        asp_coll_same(asp_coll_past(run->to, run->bytes), to)) {
        run->bytes += bytes;
        return;
    }
    end_run(run);
    *run = (struct run){run->s, from, to, bytes};
}

/* Bruck at one rank. Block j goes from a rank to the one j after it, by the
 * digits of j to the base k. */
struct bruck {
    struct asp_coll_maker *m;
    const struct asp_coll_group *g;
    uint32_t k;
    size_t bytes;
    struct asp_coll_place to;
    struct asp_coll_place *at; /* where block j waits */
};

/* Blocks that travel over distance times digit: their number, and the only one
 * if it is 1. */
static uint32_t count_blocks(const struct bruck *b, uint64_t distance,
                             uint32_t digit, uint32_t *only_p)
{
    uint32_t count = 0;

    for (uint64_t start = digit * distance; start < b->g->n;
         start += distance * b->k)
        for (uint64_t j = start; j < start + distance && j < b->g->n; j++) {
            *only_p = (uint32_t) j;
            count++;
        }
    return count;
}

static void pack(struct bruck *b, uint64_t distance, uint32_t digit,
                 struct asp_coll_place to)
{
    struct run run = {.s = b->m->s};

    for (uint64_t start = digit * distance; start < b->g->n;
         start += distance * b->k)
        for (uint64_t j = start; j < start + distance && j < b->g->n; j++) {
            add_to_run(&run, b->at[j], to, b->bytes);
            to = asp_coll_past(to, b->bytes);
        }
    end_run(&run);
}

/* What came lies in the order of pack(). */
static void wait_there(struct bruck *b, uint64_t distance, uint32_t digit,
                       struct asp_coll_place came)
{
    for (uint64_t start = digit * distance; start < b->g->n;
         start += distance * b->k)
        for (uint64_t j = start; j < start + distance && j < b->g->n; j++) {
            b->at[j] = came;
            came = asp_coll_past(came, b->bytes);
        }
}

static struct asp_coll_place final_place(const struct bruck *b, uint64_t j)
{
    uint32_t from = (uint32_t) ((b->g->me + b->g->n - j) % b->g->n);

    return asp_coll_past(b->to, from * b->bytes);
}

static void hop(struct bruck *b, uint64_t distance, uint32_t digit,
                uint32_t round)
{
    const struct asp_coll_group *g = b->g;
    uint64_t jump = digit * distance;
    uint32_t to = (uint32_t) ((g->me + jump) % g->n), only = 0;
    uint32_t from = (uint32_t) ((g->me + g->n - jump) % g->n);
    uint32_t count = count_blocks(b, distance, digit, &only);
    size_t bytes = count * b->bytes;
    struct asp_coll_place sent, came;

    if (count == 1) {
        sent = b->at[only];
    } else {
        sent = asp_coll_scratch(b->m->s, bytes);
        pack(b, distance, digit, sent);
    }
    if (count == 1 && only < distance * b->k)
        came = final_place(b, only);
    else
        came = asp_coll_scratch(b->m->s, bytes);
    asp_coll_send(b->m->s, asp_coll_rank(g, to), round, sent, bytes);
    asp_coll_recv(b->m->s, asp_coll_rank(g, from), round, came, bytes);
    wait_there(b, distance, digit, came);
}

void asp_coll_add_bruck(struct asp_coll_maker *m,
                        const struct asp_coll_group *g, uint32_t k,
                        struct asp_coll_place from, struct asp_coll_place to,
                        size_t bytes)
{
    struct bruck b = {m, g, k, bytes, to, NULL};
    struct run run = {.s = m->s};
    uint32_t round = m->round;

    b.at = asp_coll_keep(m, g->n, sizeof(*b.at));
    if (!b.at)
        return;
    for (uint32_t j = 0; j < g->n; j++)
        b.at[j] = asp_coll_past(from, (g->me + j) % g->n * bytes);
    for (uint64_t distance = 1; distance < g->n; distance *= k)
        for (uint32_t digit = 1; digit < k && digit * distance < g->n; digit++)
            hop(&b, distance, digit, round++);
    for (uint32_t j = g->n; --j > 0;)
        if (!asp_coll_same(b.at[j], final_place(&b, j)))
            add_to_run(&run, b.at[j], final_place(&b, j), bytes);
    end_run(&run);
}
