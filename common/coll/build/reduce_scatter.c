/* SPDX-License-Identifier: BSD-3-Clause */
/* Reduce-scatter: a ring, pairs, or recursive halving (Thakur et al., see
 * allgather.c). The result may go to the start of the input, so it is put there
 * when all that lies there has been sent: the needs see to that. */
#include "common/coll/build/algorithms.h"
#include "common/coll/build/halving.h"
#include "common/coll/build/power_group.h"

/* Bytes of slots at most, if two slots are not more. */
enum { SLOTS_BYTES = 1 << 20 };

/* Where `into` is a part of the input, reductions do not go there but to
 * scratch memory, and the result is put there at the end. */
static bool apart(struct asp_coll_place own, struct asp_coll_place into)
{
    return own.buffer != into.buffer;
}

void asp_coll_add_rs_ring(struct asp_coll_maker *m,
                          const struct asp_coll_group *g,
                          struct asp_coll_place own, const size_t *at,
                          struct asp_coll_place into)
{
    struct asp_coll_blocks b = {own, at};
    uint32_t next = asp_coll_rank(g, (g->me + 1) % g->n);
    uint32_t last = asp_coll_rank(g, (g->me + g->n - 1) % g->n);
    uint32_t block = (g->me + g->n - 1) % g->n;
    struct asp_coll_place product = asp_coll_block(&b, block);

    for (uint32_t i = 1; i < g->n; i++) {
        uint32_t before = (block + g->n - 1) % g->n;
        size_t bytes = asp_coll_span(&b, before, before + 1);
        struct asp_coll_place came = into;

        if (i + 1 < g->n || !apart(own, into))
            came = asp_coll_scratch(m->s, bytes);
        asp_coll_send(m->s, next, m->round + i, product,
                      asp_coll_span(&b, block, block + 1));
        asp_coll_recv(m->s, last, m->round + i, came, bytes);
        asp_coll_reduce_local(m->s, asp_coll_block(&b, before), came, bytes);
        product = came;
        block = before;
    }
    asp_coll_move(m, product, into, asp_coll_span(&b, g->me, g->me + 1));
}

/* Receives of one block from all others. */
struct fan_in {
    struct asp_coll_maker *m;
    const struct asp_coll_group *g;
    struct asp_coll_place own, into, slots;
    uint32_t nslots;
    size_t bytes;
};

static struct asp_coll_place recv_slot(const struct fan_in *f, uint32_t from,
                                       uint32_t i)
{
    struct asp_coll_place slot = asp_coll_past(f->slots,
                                               i % f->nslots * f->bytes);

    asp_coll_recv(f->m->s, asp_coll_rank(f->g, from), f->m->round, slot,
                  f->bytes);
    return slot;
}

/* Any order: those before this rank first, since it is in their order of sends.
 * The first of them comes to where all are reduced. */
static struct asp_coll_place reduce_any(const struct fan_in *f)
{
    struct asp_coll_place product = f->own, came;

    for (uint32_t i = 1; i < f->g->n; i++) {
        uint32_t from = (f->g->me + f->g->n - i) % f->g->n;

        if (i > 1) {
            came = recv_slot(f, from, i);
            asp_coll_reduce_local(f->m->s, came, product, f->bytes);
            continue;
        }
        product = f->into;
        if (!apart(f->own, f->into))
            product = asp_coll_scratch(f->m->s, f->bytes);
        asp_coll_recv(f->m->s, asp_coll_rank(f->g, from), f->m->round, product,
                      f->bytes);
        asp_coll_reduce_local(f->m->s, f->own, product, f->bytes);
    }
    return product;
}

static struct asp_coll_place reduce_ordered(const struct fan_in *f)
{
    struct asp_coll_place product = {0}, next;

    for (uint32_t from = 0; from < f->g->n; from++) {
        if (from != f->g->me) {
            next = recv_slot(f, from, from);
        } else if (from) { /* it may not be written */
            next = asp_coll_scratch(f->m->s, f->bytes);
            asp_coll_copy(f->m->s, f->own, next, f->bytes);
        } else {
            next = f->own;
        }
        if (from)
            asp_coll_reduce_local(f->m->s, product, next, f->bytes);
        product = next;
    }
    return product;
}

void asp_coll_add_rs_pairs(struct asp_coll_maker *m,
                           const struct asp_coll_group *g,
                           struct asp_coll_place own, const size_t *at,
                           struct asp_coll_place into)
{
    struct asp_coll_blocks b = {own, at};
    size_t bytes = asp_coll_span(&b, g->me, g->me + 1);
    size_t most = bytes ? SLOTS_BYTES / bytes : 2;
    struct fan_in f = {m, g, asp_coll_block(&b, g->me), into, {0}, g->n, bytes};
    struct asp_coll_place result;

    if (f.nslots > most)
        f.nslots = most > 2 ? (uint32_t) most : 2;
    f.slots = asp_coll_scratch(m->s, f.nslots * bytes);
    for (uint32_t i = 1; i < g->n; i++) {
        uint32_t to = (g->me + i) % g->n;

        asp_coll_send(m->s, asp_coll_rank(g, to), m->round,
                      asp_coll_block(&b, to), asp_coll_span(&b, to, to + 1));
    }
    result = m->problem->commutative ? reduce_any(&f) : reduce_ordered(&f);
    asp_coll_move(m, result, into, bytes);
}

/* The vector with the blocks of the members in the order in which halving by
 * neighbours hands them out; *at_p becomes its offsets. */
static struct asp_coll_place reorder(const struct asp_coll_halving *h,
                                     struct asp_coll_place own,
                                     const size_t **at_p)
{
    size_t *at = asp_coll_keep(h->m, h->g->n + 1, sizeof(*at));
    struct asp_coll_place copy = asp_coll_scratch(h->m->s, h->at[h->g->n]);

    for (uint32_t i = 0; at && i < h->g->n; i++) {
        uint32_t block = asp_coll_halving_block(h, i); /* its own inverse */
        size_t bytes = h->at[block + 1] - h->at[block];

        asp_coll_copy(h->m->s, asp_coll_past(own, h->at[block]),
                      asp_coll_past(copy, at[i]), bytes);
        at[i + 1] = at[i] + bytes;
    }
    *at_p = at;
    return copy;
}

/* Halving among the members: each ends with the blocks of its interval. */
static struct asp_coll_place halve(struct asp_coll_maker *m,
                                   const struct asp_coll_power_group *powers,
                                   uint32_t n, struct asp_coll_place own,
                                   bool writable, const size_t *at)
{
    uint32_t count = powers->group.n;
    size_t *bounds = asp_coll_keep(m, count + 1, sizeof(*bounds));
    struct asp_coll_halving h = {m, &powers->group, bounds, false};
    struct asp_coll_place land;

    for (uint32_t i = 0; bounds && i <= count; i++)
        bounds[i] = at[asp_coll_part(n, count, i)];
    if (!bounds)
        return own;
    h.near = !m->problem->commutative;
    if (h.near) {
        own = reorder(&h, own, &h.at);
        writable = true;
        if (!h.at)
            return own;
    }
    land = asp_coll_scratch(m->s, bounds[powers->group.me + 1] -
                                      bounds[powers->group.me]);
    return asp_coll_halving_down(&h, own, writable, land);
}

void asp_coll_add_rs_halving(struct asp_coll_maker *m,
                             const struct asp_coll_group *g,
                             struct asp_coll_place own, const size_t *at,
                             struct asp_coll_place into)
{
    const struct asp_coll_tree flat = {.shape = ASP_COLL_KARY, .k = g->n};
    struct asp_coll_power_group powers;
    struct asp_coll_blocks b;
    struct asp_coll_place whole = own;
    uint32_t base = m->round, count = 1;
    bool joined;

    while (count * 2 <= g->n)
        count *= 2;
    asp_coll_power_group_find(m, g, count, &powers);
    joined = powers.is_member && powers.interval.n > 1;
    if (joined)
        whole = asp_coll_scratch(m->s, at[g->n]);
    asp_coll_power_group_join(m, &powers, &own, whole, at[g->n]);
    m->round = base + ASP_COLL_PHASE;
    b = (struct asp_coll_blocks){own, at + powers.first};
    if (powers.is_member)
        b.base = halve(m, &powers, g->n, own, joined, at);
    b.base.offset -= at[powers.first];
    m->round = base + 2 * ASP_COLL_PHASE;
    asp_coll_add_scatter(m, &powers.interval, 0, &flat, &b, false, into);
}
