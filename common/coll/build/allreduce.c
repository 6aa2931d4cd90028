/* SPDX-License-Identifier: BSD-3-Clause */
/* Allreduce and reduce_scatter by exchange of vectors: recursive doubling with
 * radix k (Thakur et al., see allgather.c). Ranks that are no part of the
 * exchange hand their vector to the one before them and get the result from it.
 * All groups are intervals of ranks, so operands keep their order.
 *
 * In each step all ranks reduce the same vectors, and by the same expression:
 * v0 op (v1 op (v2 op ...)), by index in the group of the step, but that the
 * two sides of a commutative operation may be swapped. So all of them have the
 * same bits after it, also of floating-point numbers: all but the sign of a
 * zero, and which NaN, in MPI_MAX and MPI_MIN. */
#include "common/coll/build/algorithms.h"
#include "common/coll/build/power_group.h"

/* An exchange at one rank. */
struct reduction {
    struct asp_coll_maker *m;
    const struct asp_coll_group *g;
    struct asp_coll_place product; /* of the ranks joined so far */
    struct asp_coll_place into;
    struct asp_coll_place slots[2]; /* of odd and even steps */
    size_t bytes;
    const size_t *at; /* rank i needs the bytes at[i] to at[i + 1]; NULL: all */
};

/* A step: r ranks that are stride apart, this one the digit-th. */
struct step {
    uint32_t r, digit, stride, number;
    bool last;
};

static struct asp_coll_place slot_of(const struct reduction *f,
                                     const struct step *step, uint32_t j)
{
    uint32_t slot = j < step->digit ? j : j - 1;

    return asp_coll_past(f->slots[step->number % 2], slot * f->bytes);
}

/* Bytes of the vector. */
struct part {
    size_t from, bytes;
};

/* What a rank must have after a step: all that it needs itself, and that those
 * need to which its product goes on from there. */
static struct part needed(const struct reduction *f, const struct step *step,
                          uint32_t index)
{
    uint32_t stride = step->stride * step->r;
    size_t from = 0, end = 0;

    if (!f->at)
        return (struct part){0, f->bytes};
    for (uint32_t i = index % stride; i < f->g->n; i += stride) {
        if (f->at[i] == f->at[i + 1])
            continue;
        from = end ? from : f->at[i];
        end = f->at[i + 1];
    }
    return (struct part){from, end - from};
}

static void exchange(const struct reduction *f, const struct step *step,
                     const struct asp_coll_place *land, struct part part)
{
    uint32_t first = f->g->me - step->digit * step->stride;
    uint32_t round = f->m->round + step->number;

    for (uint32_t i = 1; i < step->r; i++) {
        uint32_t to = first + (step->digit + i) % step->r * step->stride;
        uint32_t from = (step->digit + step->r - i) % step->r;
        struct part theirs = needed(f, step, to);

        asp_coll_send(f->m->s, asp_coll_rank(f->g, to), round,
                      asp_coll_past(f->product, theirs.from), theirs.bytes);
        asp_coll_recv(f->m->s, asp_coll_rank(f->g, first + from * step->stride),
                      round, asp_coll_past(land[from], part.from), part.bytes);
    }
}

static void reduce_part(const struct reduction *f, struct asp_coll_place from,
                        struct asp_coll_place to, struct part part)
{
    asp_coll_reduce_local(f->m->s, asp_coll_past(from, part.from),
                          asp_coll_past(to, part.from), part.bytes);
}

/* Where the last operand can be written, with what joins it there: all before
 * it are put in front, one by one. The own one has been sent, and is not
 * written. */
static struct asp_coll_place reduce_last(const struct reduction *f,
                                         const struct step *step,
                                         const struct asp_coll_place *land,
                                         struct part part, uint32_t *left_p)
{
    struct asp_coll_place copy = f->into;

    *left_p = step->r - 1;
    if (step->digit + 1 < step->r)
        return land[step->r - 1];
    if (f->m->problem->commutative) {
        reduce_part(f, f->product, land[step->r - 2], part);
        *left_p = step->r - 2;
        return land[step->r - 2];
    }
    if (!step->last || asp_coll_same(f->product, f->into))
        copy = asp_coll_scratch(f->m->s, f->bytes);
    asp_coll_copy(f->m->s, asp_coll_past(f->product, part.from),
                  asp_coll_past(copy, part.from), part.bytes);
    return copy;
}

static void join(struct reduction *f, const struct step *step,
                 struct asp_coll_place *land)
{
    bool commutes = f->m->problem->commutative, is_end;
    struct part part = needed(f, step, f->g->me);
    struct asp_coll_place product;
    uint32_t end = step->r - 1, left;

    is_end = step->digit == end;
    for (uint32_t j = 0; j < step->r; j++)
        land[j] = slot_of(f, step, j);
    /* What is written comes to where the result goes. */
    if (step->last && (commutes || !is_end) &&
        !asp_coll_same(f->product, f->into))
        land[is_end ? end - 1 : end] = f->into;
    exchange(f, step, land, part);
    product = reduce_last(f, step, land, part, &left);
    while (left-- > 0)
        reduce_part(f, left == step->digit ? f->product : land[left], product,
                    part);
    f->product = product;
}

/* All ranks of a group without prime factors above k. Returns where the result
 * is: into, if that may be. */
static struct asp_coll_place reduce_exchange(struct asp_coll_maker *m,
                                             const struct asp_coll_group *g,
                                             uint32_t k,
                                             struct asp_coll_place own,
                                             struct asp_coll_place into,
                                             size_t bytes, const size_t *at)
{
    struct reduction f = {
        .m = m, .g = g, .product = own, .into = into, .bytes = bytes, .at = at};
    struct asp_coll_place *land = asp_coll_keep(m, k, sizeof(*land));
    uint32_t slots = g->n < k ? g->n : k;
    struct step step = {.stride = 1};

    if (!land)
        return own;
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
    return f.product;
}

void asp_coll_add_allreduce_exchange(struct asp_coll_maker *m,
                                     const struct asp_coll_group *g, uint32_t k,
                                     struct asp_coll_place own,
                                     struct asp_coll_place into, size_t bytes)
{
    struct asp_coll_power_group powers;
    struct asp_coll_place result;

    asp_coll_power_group_find(m, g, asp_coll_power_group_count(g->n, k),
                              &powers);
    asp_coll_power_group_join(m, &powers, &own, into, bytes);
    asp_coll_next_phase(m);
    if (powers.is_member) {
        result = reduce_exchange(m, &powers.group, k, own, into, bytes, NULL);
        asp_coll_move(m, result, into, bytes);
    }
    asp_coll_next_phase(m);
    asp_coll_power_group_tell(m, &powers, into, bytes);
}

void asp_coll_add_rs_exchange(struct asp_coll_maker *m,
                              const struct asp_coll_group *g, uint32_t k,
                              struct asp_coll_place own, const size_t *at,
                              struct asp_coll_place into)
{
    const struct asp_coll_tree flat = {.shape = ASP_COLL_KARY, .k = g->n};
    uint32_t count = asp_coll_power_group_count(g->n, k);
    size_t *bounds = asp_coll_keep(m, count + 1, sizeof(*bounds));
    struct asp_coll_place whole = own;
    struct asp_coll_power_group powers;
    struct asp_coll_blocks b;

    if (!bounds)
        return;
    for (uint32_t i = 0; i <= count; i++)
        bounds[i] = at[asp_coll_part(g->n, count, i)];
    asp_coll_power_group_find(m, g, count, &powers);
    if (powers.is_member && g->n > 1)
        whole = asp_coll_scratch(m->s, at[g->n]);
    asp_coll_power_group_join(m, &powers, &own, whole, at[g->n]);
    asp_coll_next_phase(m);
    if (powers.is_member)
        own = reduce_exchange(m, &powers.group, k, own, whole, at[g->n],
                              bounds);
    asp_coll_next_phase(m);
    b = (struct asp_coll_blocks){own, at + powers.first};
    asp_coll_add_scatter(m, &powers.interval, 0, &flat, &b, false, into);
}
