/* SPDX-License-Identifier: BSD-3-Clause */
/* Recursive halving and doubling: Rabenseifner, "Optimization of collective
 * reduction operations" (2004). */
#include "common/coll/build/halving.h"

/* Blocks low to high - 1, of which each rank of the step keeps a half. */
struct step {
    uint32_t mask; /* the partner differs in this bit */
    uint32_t low, high;
    uint32_t number;
};

static uint32_t middle(const struct step *step)
{
    return step->low + (step->high - step->low) / 2;
}

static struct step first_step(const struct asp_coll_halving *h)
{
    return (struct step){h->near ? 1 : h->g->n / 2, 0, h->g->n, 0};
}

static bool is_upper(const struct step *step, uint32_t i)
{
    return i & step->mask;
}

static void next_step(const struct asp_coll_halving *h, struct step *step,
                      uint32_t i)
{
    uint32_t half = middle(step);

    if (is_upper(step, i))
        step->low = half;
    else
        step->high = half;
    step->mask = h->near ? step->mask * 2 : step->mask / 2;
    step->number++;
}

uint32_t asp_coll_halving_block(const struct asp_coll_halving *h, uint32_t i)
{
    struct step step = first_step(h);

    while (step.high - step.low > 1)
        next_step(h, &step, i);
    return step.low;
}

static size_t span(const struct asp_coll_halving *h, uint32_t low,
                   uint32_t high)
{
    return h->at[high] - h->at[low];
}

/* Reduce what came into the half that is kept, or that into what came, as the
 * order and what may be written want it. Returns where the product is. */
static struct asp_coll_place reduce(const struct asp_coll_halving *h,
                                    bool upper, struct asp_coll_place kept,
                                    bool writable, struct asp_coll_place came,
                                    size_t bytes)
{
    struct asp_coll_schedule *s = h->m->s;
    bool left = !upper || h->m->problem->commutative; /* kept is */
    bool right = upper || h->m->problem->commutative;
    struct asp_coll_place copy;

    if (writable && right) {
        asp_coll_reduce_local(s, came, kept, bytes);
        return kept;
    }
    if (left) {
        asp_coll_reduce_local(s, kept, came, bytes);
        return came;
    }
    copy = asp_coll_scratch(s, bytes);
    asp_coll_copy(s, kept, copy, bytes);
    asp_coll_reduce_local(s, came, copy, bytes);
    return copy;
}

struct asp_coll_place asp_coll_halving_down(const struct asp_coll_halving *h,
                                            struct asp_coll_place own,
                                            bool writable,
                                            struct asp_coll_place land)
{
    struct asp_coll_schedule *s = h->m->s;
    struct asp_coll_place product = asp_coll_past(own, h->at[0]);
    uint32_t me = h->g->me;

    for (struct step step = first_step(h); step.high - step.low > 1;
         next_step(h, &step, me)) {
        uint32_t half = middle(&step), round = h->m->round + step.number;
        uint32_t peer = asp_coll_rank(h->g, me ^ step.mask);
        bool upper = is_upper(&step, me);
        uint32_t low = upper ? half : step.low, high = upper ? step.high : half;
        size_t bytes = span(h, low, high), lower = span(h, step.low, half);
        struct asp_coll_place came = land;

        if (high - low > 1 || writable)
            came = asp_coll_scratch(s, bytes);
        asp_coll_send(s, peer, round,
                      upper ? product : asp_coll_past(product, lower),
                      span(h, step.low, step.high) - bytes);
        asp_coll_recv(s, peer, round, came, bytes);
        product = reduce(h, upper,
                         upper ? asp_coll_past(product, lower) : product,
                         writable, came, bytes);
        writable = true;
    }
    return product;
}

void asp_coll_halving_up(const struct asp_coll_halving *h,
                         struct asp_coll_place into)
{
    struct step steps[32];
    uint32_t n = 0, me = h->g->me;

    for (struct step step = first_step(h); step.high - step.low > 1;
         next_step(h, &step, me))
        steps[n++] = step;
    while (n-- > 0) {
        const struct step *step = &steps[n];
        uint32_t half = middle(step), round = h->m->round + step->number;
        uint32_t peer = asp_coll_rank(h->g, me ^ step->mask);
        uint32_t own = is_upper(step, me) ? half : step->low;
        uint32_t other = is_upper(step, me) ? step->low : half;
        uint32_t own_end = is_upper(step, me) ? step->high : half;
        uint32_t other_end = is_upper(step, me) ? half : step->high;

        asp_coll_send(h->m->s, peer, round, asp_coll_past(into, h->at[own]),
                      span(h, own, own_end));
        asp_coll_recv(h->m->s, peer, round, asp_coll_past(into, h->at[other]),
                      span(h, other, other_end));
    }
}
