/* SPDX-License-Identifier: BSD-3-Clause */
/* Allreduce by exchange of whole vectors: recursive doubling with radix k
 * (Thakur et al., see allgather.c). Ranks that are no part of the exchange hand
 * their vector to the one before them and get the result from it. All groups
 * are intervals of ranks, so operands keep their order. */
#include "common/coll/algorithms.h"
#include "common/coll/cores.h"

/* An exchange at one rank. */
struct fold {
    struct asp_coll_maker *m;
    const struct asp_coll_group *g;
    struct asp_coll_place product; /* of the ranks joined so far */
    struct asp_coll_place into;
    struct asp_coll_place slots[2]; /* of odd and even steps */
    size_t bytes;
};

/* A step: r ranks that are stride apart, this one the digit-th. */
struct step {
    uint32_t r, digit, stride, number;
    bool last;
};

static struct asp_coll_place slot_of(const struct fold *f,
                                     const struct step *step, uint32_t j)
{
    uint32_t slot = j < step->digit ? j : j - 1;

    return asp_coll_past(f->slots[step->number % 2], slot * f->bytes);
}

static void exchange(const struct fold *f, const struct step *step,
                     const struct asp_coll_place *land)
{
    uint32_t first = f->g->me - step->digit * step->stride;
    uint32_t round = f->m->round + step->number;

    for (uint32_t i = 1; i < step->r; i++) {
        uint32_t to = (step->digit + i) % step->r;
        uint32_t from = (step->digit + step->r - i) % step->r;

        asp_coll_send(f->m->s, asp_coll_rank(f->g, first + to * step->stride),
                      round, f->product, f->bytes);
        asp_coll_recv(f->m->s, asp_coll_rank(f->g, first + from * step->stride),
                      round, land[from], f->bytes);
    }
}

/* product op land[j] for the ranks after this one, in their order. */
static void fold_upper(struct fold *f, const struct step *step,
                       const struct asp_coll_place *land)
{
    for (uint32_t j = step->digit + 1; j < step->r; j++) {
        asp_coll_fold(f->m->s, f->product, land[j], f->bytes);
        f->product = land[j];
    }
}

/* land[0] op land[1] ... op product, for the ranks before this one. */
static void fold_lower(struct fold *f, const struct step *step,
                       const struct asp_coll_place *land)
{
    struct asp_coll_place copy;

    for (uint32_t j = 0; j + 1 < step->digit; j++)
        asp_coll_fold(f->m->s, land[j], land[j + 1], f->bytes);
    if (!step->digit)
        return;
    if (step->digit + 1 == step->r) { /* nothing was folded to the right */
        copy = f->into;
        if (!step->last || asp_coll_same(f->product, f->into))
            copy = asp_coll_scratch(f->m->s, f->bytes);
        asp_coll_copy(f->m->s, f->product, copy, f->bytes);
        f->product = copy;
    }
    asp_coll_fold(f->m->s, land[step->digit - 1], f->product, f->bytes);
}

/* Any order: the product moves on to where the next operand came to. */
static void fold_any(struct fold *f, const struct step *step,
                     const struct asp_coll_place *land)
{
    for (uint32_t i = 1; i < step->r; i++) {
        uint32_t j = (step->digit + step->r - i) % step->r;

        asp_coll_fold(f->m->s, f->product, land[j], f->bytes);
        f->product = land[j];
    }
}

static void join(struct fold *f, const struct step *step,
                 struct asp_coll_place *land)
{
    bool commutes = f->m->problem->commutative;
    uint32_t end = commutes ? (step->digit + 1) % step->r : step->r - 1;

    for (uint32_t j = 0; j < step->r; j++)
        land[j] = slot_of(f, step, j);
    /* The operand that is folded last comes to where the result goes. */
    if (step->last && end != step->digit && !asp_coll_same(f->product, f->into))
        land[end] = f->into;
    exchange(f, step, land);
    if (commutes) {
        fold_any(f, step, land);
    } else {
        fold_upper(f, step, land);
        fold_lower(f, step, land);
    }
}

/* All ranks of a group without prime factors above k. */
static void fold_exchange(struct asp_coll_maker *m,
                          const struct asp_coll_group *g, uint32_t k,
                          struct asp_coll_place own, struct asp_coll_place into,
                          size_t bytes)
{
    struct fold f = {
        .m = m, .g = g, .product = own, .into = into, .bytes = bytes};
    struct asp_coll_place *land = asp_coll_keep(m, k, sizeof(*land));
    uint32_t slots = g->n < k ? g->n : k;
    struct step step = {.stride = 1};

    if (!land)
        return;
    f.slots[0] = asp_coll_scratch(m->s, (slots - 1) * bytes);
    f.slots[1] = g->n > k ? asp_coll_scratch(m->s, (slots - 1) * bytes)
                          : f.slots[0];
    for (uint32_t rest = g->n; rest > 1; rest /= step.r) {
        step.r = asp_coll_factor(rest, k);
        step.digit = g->me / step.stride % step.r;
        step.last = rest == step.r;
        join(&f, &step, land);
        step.stride *= step.r;
        step.number++;
    }
    asp_coll_move(m, f.product, into, bytes);
}

void asp_coll_add_fold_exchange(struct asp_coll_maker *m,
                                const struct asp_coll_group *g, uint32_t k,
                                struct asp_coll_place own,
                                struct asp_coll_place into, size_t bytes)
{
    struct asp_coll_cores cores;

    asp_coll_cores_find(m, g, asp_coll_cores_count(g->n, k), &cores);
    asp_coll_cores_join(m, &cores, &own, into, bytes);
    asp_coll_next_phase(m);
    if (cores.is_core)
        fold_exchange(m, &cores.group, k, own, into, bytes);
    asp_coll_next_phase(m);
    asp_coll_cores_tell(m, &cores, into, bytes);
}
