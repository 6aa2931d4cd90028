/* SPDX-License-Identifier: BSD-3-Clause */
/* Allgather. All blocks go straight to their places: only what goes over the
 * last rank in dissemination is put together first.
 *
 * Ring and recursive doubling: Thakur, Rabenseifner and Gropp, "Optimization of
 * collective communication operations in MPICH" (2005). Dissemination: Bruck,
 * Ho, Kipnis, Upfal and Weathersby (1997), here with radix k and without the
 * rotation at the end. */
#include "common/coll/build/algorithms.h"

void asp_coll_add_ring(struct asp_coll_maker *m, const struct asp_coll_group *g,
                       const struct asp_coll_blocks *b)
{
    uint32_t next = asp_coll_rank(g, (g->me + 1) % g->n);
    uint32_t last = asp_coll_rank(g, (g->me + g->n - 1) % g->n);
    uint32_t block = g->me;

    for (uint32_t i = 1; i < g->n; i++) {
        uint32_t before = (block + g->n - 1) % g->n;

        asp_coll_send(m->s, next, m->round + i, asp_coll_block(b, block),
                      asp_coll_span(b, block, block + 1));
        asp_coll_recv(m->s, last, m->round + i, asp_coll_block(b, before),
                      asp_coll_span(b, before, before + 1));
        block = before;
    }
}

/* Each step joins r ranks that are stride apart, each with stride blocks. */
void asp_coll_add_exchange(struct asp_coll_maker *m,
                           const struct asp_coll_group *g,
                           const struct asp_coll_blocks *b, uint32_t k)
{
    uint32_t stride = 1, rest = g->n, round = m->round;

    while (rest > 1) {
        uint32_t r = asp_coll_factor(rest, k), digit = g->me / stride % r;
        uint32_t own = g->me / stride * stride;

        for (uint32_t j = 1; j < r; j++) {
            uint32_t to = (digit + j) % r, from = (digit + r - j) % r;
            uint32_t theirs = own + from * stride - digit * stride;

            asp_coll_send(
                m->s, asp_coll_rank(g, g->me + to * stride - digit * stride),
                round, asp_coll_block(b, own),
                asp_coll_span(b, own, own + stride));
            asp_coll_recv(
                m->s, asp_coll_rank(g, g->me + from * stride - digit * stride),
                round, asp_coll_block(b, theirs),
                asp_coll_span(b, theirs, theirs + stride));
        }
        round++;
        stride *= r;
        rest /= r;
    }
}

/* count blocks from first on, over the end of the ranks to the first ones. */
struct arc {
    struct asp_coll_maker *m;
    const struct asp_coll_blocks *b;
    uint32_t n, first, count;
};

static bool over_the_end(const struct arc *arc)
{
    return arc->first + arc->count > arc->n;
}

static size_t arc_bytes(const struct arc *arc)
{
    uint32_t end = arc->first + arc->count;

    if (!over_the_end(arc))
        return asp_coll_span(arc->b, arc->first, end);
    return asp_coll_span(arc->b, arc->first, arc->n) +
           asp_coll_span(arc->b, 0, end - arc->n);
}

static void copy_arc(const struct arc *arc, struct asp_coll_place piece,
                     bool to_blocks)
{
    size_t before = asp_coll_span(arc->b, arc->first, arc->n);
    size_t after = arc_bytes(arc) - before;
    struct asp_coll_place high = asp_coll_block(arc->b, arc->first);
    struct asp_coll_place low = asp_coll_block(arc->b, 0);
    struct asp_coll_place rest = asp_coll_past(piece, before);

    asp_coll_copy(arc->m->s, to_blocks ? piece : high, to_blocks ? high : piece,
                  before);
    asp_coll_copy(arc->m->s, to_blocks ? rest : low, to_blocks ? low : rest,
                  after);
}

/* The blocks from this rank on, in one piece. */
static struct asp_coll_place pack_arc(const struct arc *arc)
{
    struct asp_coll_place piece;

    if (!over_the_end(arc))
        return asp_coll_block(arc->b, arc->first);
    piece = asp_coll_scratch(arc->m->s, arc_bytes(arc));
    copy_arc(arc, piece, false);
    return piece;
}

static void recv_arc(const struct arc *arc, uint32_t from, uint32_t round)
{
    struct asp_coll_place piece = asp_coll_block(arc->b, arc->first);
    size_t bytes = arc_bytes(arc);

    if (over_the_end(arc))
        piece = asp_coll_scratch(arc->m->s, bytes);
    asp_coll_recv(arc->m->s, from, round, piece, bytes);
    if (over_the_end(arc))
        copy_arc(arc, piece, true);
}

/* A rank has the count blocks from its own on, and gets those that follow from
 * the ranks count, 2 count, ... after it. */
static uint32_t double_arc(struct asp_coll_maker *m,
                           const struct asp_coll_group *g,
                           const struct asp_coll_blocks *b, uint32_t k,
                           uint32_t count, uint32_t round)
{
    struct arc own = {m, b, g->n, g->me,
                      g->n - count < count ? g->n - count : count};
    struct asp_coll_place piece = pack_arc(&own);
    uint32_t have = count;

    for (uint32_t j = 1; j < k && have < g->n; j++) {
        uint32_t more = g->n - have < count ? g->n - have : count;
        struct arc sent = {m, b, g->n, g->me, more};
        struct arc got = {m, b, g->n, (g->me + have) % g->n, more};
        uint32_t to = (g->me + g->n - have) % g->n;

        asp_coll_send(m->s, asp_coll_rank(g, to), round, piece,
                      arc_bytes(&sent));
        recv_arc(&got, asp_coll_rank(g, got.first), round);
        have += more;
    }
    return have;
}

void asp_coll_add_doubling(struct asp_coll_maker *m,
                           const struct asp_coll_group *g,
                           const struct asp_coll_blocks *b, uint32_t k)
{
    uint32_t round = m->round;

    for (uint32_t have = 1; have < g->n; round++)
        have = double_arc(m, g, b, k, have, round);
}

void asp_coll_add_any(struct asp_coll_maker *m, const struct asp_coll_group *g,
                      const struct asp_coll_blocks *b, uint32_t k)
{
    if (asp_coll_smooth(g->n, k))
        asp_coll_add_exchange(m, g, b, k);
    else
        asp_coll_add_doubling(m, g, b, k);
}
