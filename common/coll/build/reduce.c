/* SPDX-License-Identifier: BSD-3-Clause */
/* Reduce along a tree. Source: Nishtala (tree.h), section 5.2.4: each child has
 * a slot of its own, so nobody waits for a slot to become free, up to a limit
 * of memory.
 *
 * Subtrees are intervals of virtual ranks in which the parent comes first, so
 * children that are reduced by rising rank keep the order of operands. That
 * holds for root 0; for another root and an operation that does not commute,
 * rank 0 reduces and hands over. */
#include "common/coll/build/algorithms.h"

#include <errno.h>

/* Bytes of slots at most, if two slots are not more. */
enum { SLOTS_BYTES = 1 << 20 };

/* A reduce at one rank. */
struct fan_in {
    struct asp_coll_maker *m;
    const struct asp_coll_group *g;
    uint32_t root;
    struct asp_coll_node node;
    struct asp_coll_place own;    /* this rank's contribution */
    struct asp_coll_place target; /* where the result of the subtree goes */
    struct asp_coll_place slots;
    uint32_t nslots;
    size_t bytes;
};

static uint32_t peer(const struct fan_in *f, uint32_t v)
{
    return asp_coll_rank(f->g, asp_coll_actual(v, f->root, f->g->n));
}

static void make_slots(struct fan_in *f)
{
    size_t most = f->bytes ? SLOTS_BYTES / f->bytes : 1;

    f->nslots = f->node.nchildren;
    if (f->nslots > most)
        f->nslots = most > 2 ? (uint32_t) most : 2;
    if (f->nslots > f->node.nchildren)
        f->nslots = f->node.nchildren;
    f->slots = asp_coll_scratch(f->m->s, f->nslots * f->bytes);
}

static struct asp_coll_place slot_of(const struct fan_in *f, uint32_t i,
                                     size_t done)
{
    return asp_coll_past(f->slots, i % f->nslots * f->bytes + done);
}

/* Any order: the first child's comes to the target, and all are reduced there.
 */
static void reduce_any(const struct fan_in *f, uint32_t round, size_t done,
                       size_t part)
{
    struct asp_coll_place own = asp_coll_past(f->own, done);
    struct asp_coll_place target = asp_coll_past(f->target, done);
    struct asp_coll_schedule *s = f->m->s;
    bool begun = asp_coll_same(own, target);

    for (uint32_t i = 0; i < f->node.nchildren; i++) {
        uint32_t child = f->node.nchildren - 1 - i;
        struct asp_coll_place land = begun ? slot_of(f, i, done) : target;

        asp_coll_recv(s, peer(f, f->node.children[child].first), round, land,
                      part);
        asp_coll_reduce_local(s, begun ? land : own, target, part);
        begun = true;
    }
}

/* By rising rank: the product moves on to where the next operand came to. */
static void reduce_ordered(const struct fan_in *f, uint32_t round, size_t done,
                           size_t part)
{
    struct asp_coll_place product = asp_coll_past(f->own, done);
    struct asp_coll_place target = asp_coll_past(f->target, done);
    struct asp_coll_schedule *s = f->m->s;
    bool taken = asp_coll_same(product, target);

    for (uint32_t i = 0; i < f->node.nchildren; i++) {
        uint32_t child = f->node.nchildren - 1 - i;
        bool last = !child && !taken;
        struct asp_coll_place land = last ? target : slot_of(f, i, done);

        asp_coll_recv(s, peer(f, f->node.children[child].first), round, land,
                      part);
        asp_coll_reduce_local(s, product, land, part);
        product = land;
    }
    asp_coll_move(f->m, product, target, part);
}

static void fan_in(struct fan_in *f, uint32_t v)
{
    size_t segment = asp_coll_segment(f->m, f->bytes);
    uint32_t round = f->m->round;

    if (!f->node.nchildren && v)
        f->target = f->own;
    else if (v)
        f->target = asp_coll_scratch(f->m->s, f->bytes);
    make_slots(f);
    for (size_t done = 0; done < f->bytes; done += segment, round++) {
        size_t part = f->bytes - done < segment ? f->bytes - done : segment;

        if (f->node.nchildren && f->m->problem->commutative)
            reduce_any(f, round, done, part);
        else
            reduce_ordered(f, round, done, part);
        if (v)
            asp_coll_send(f->m->s, peer(f, f->node.parent), round,
                          asp_coll_past(f->target, done), part);
    }
}

static void reduce_to(struct asp_coll_maker *m, const struct asp_coll_group *g,
                      uint32_t root, const struct asp_coll_tree *tree,
                      struct asp_coll_place own, struct asp_coll_place into,
                      size_t bytes)
{
    uint32_t v = asp_coll_virtual(g->me, root, g->n);
    struct fan_in f = {.m = m,
                       .g = g,
                       .root = root,
                       .own = own,
                       .target = into,
                       .bytes = bytes};

    if (asp_coll_tree_find(tree, g->n, v, &f.node) < 0)
        m->s->error = ENOMEM;
    else
        fan_in(&f, v);
    asp_coll_node_destroy(&f.node);
}

void asp_coll_add_reduce(struct asp_coll_maker *m,
                         const struct asp_coll_group *g, uint32_t root,
                         const struct asp_coll_tree *tree,
                         struct asp_coll_place own, struct asp_coll_place into,
                         size_t bytes)
{
    struct asp_coll_place result = into;

    if (m->problem->commutative || !root) {
        reduce_to(m, g, root, tree, own, into, bytes);
        return;
    }
    if (!g->me)
        result = asp_coll_scratch(m->s, bytes);
    reduce_to(m, g, 0, tree, own, result, bytes);
    asp_coll_next_phase(m);
    if (!g->me)
        asp_coll_send(m->s, asp_coll_rank(g, root), m->round, result, bytes);
    if (g->me == root)
        asp_coll_recv(m->s, asp_coll_rank(g, 0), m->round, into, bytes);
}
