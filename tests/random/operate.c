/* SPDX-License-Identifier: BSD-3-Clause */
/* The operations of a phase. One is drawn, dropped if its outcome would not be
 * defined, and otherwise applied to the model at once.
 *
 * Between two synchronisations a byte that one origin owns is either read by
 * any number of gets, or written by one put, or the target of any number of
 * accumulates, which are ordered. */
#include "random.h"

enum touch { UNTOUCHED, READ, WRITTEN, ACCUMULATED };
enum { TRIES = 4, GROUP_MAX = 60 };

static unsigned char group_used[MAX_GROUPS];

static enum touch touch_of(enum kind kind)
{
    return kind == GET ? READ : kind == PUT ? WRITTEN : ACCUMULATED;
}

static int may_touch(const struct op *op)
{
    const struct side *side = &op->window->side[op->target];
    enum touch touch = touch_of(op->kind);

    for (int i = 0; i < op->n; i++) {
        int at = op->at + layout_slot(&op->to, i) * op->type->extent;

        for (int b = at; b < at + op->type->extent; b++)
            if (side->touched[b] != UNTOUCHED &&
                (side->touched[b] != touch || touch == WRITTEN))
                return 0;
    }
    return 1;
}

static void touch(const struct op *op)
{
    const struct side *side = &op->window->side[op->target];

    for (int i = 0; i < op->n; i++)
        memset(side->touched + op->at +
                   layout_slot(&op->to, i) * op->type->extent,
               touch_of(op->kind), (size_t) op->type->extent);
}

static int one_element(const struct op *op)
{
    return op->kind == FETCH_AND_OP || op->kind == COMPARE_AND_SWAP ||
           op->kind == GUARDED_ADD;
}

static int operator_for(const struct type *type, struct prng *prng)
{
    int o;

    do {
        o = prng_below(prng, n_operators);
    } while (!(operators[o].classes & 1u << type->class));
    return o;
}

static enum kind among(struct prng *prng, const char *kinds)
{
    static const char letters[] = "PGARFC";
    int i = prng_below(prng, (int) strlen(kinds));

    return (enum kind)(strchr(letters, kinds[i]) - letters);
}

/* What the region's mode allows. */
static void kind_draw(struct op *op, const struct region *region,
                      struct prng *prng)
{
    op->op = region->op;
    switch (region->mode) {
    case OWNED:
        op->kind = among(prng,
                         type_may_swap(op->type) ? "PPGGAARFC" : "PGAARF");
        do { /* an accumulate that does nothing is not legal */
            op->op = operator_for(op->type, prng);
        } while (op->kind == ACCUMULATE && op->op == OP_NO_OP);
        break;
    case READ_ONLY:
        op->kind = among(prng, "GGRF");
        op->op = OP_NO_OP;
        break;
    case FOLD:
    case CHAIN:
        op->kind = among(prng, "AARF");
        if (op->kind != ACCUMULATE && prng_chance(prng, 20))
            op->op = OP_NO_OP;
        break;
    case ONE_WINS:
        op->kind = COMPARE_AND_SWAP;
        break;
    case SWAPS:
        op->kind = among(prng, "RF");
        op->op = OP_REPLACE;
        break;
    case GUARDED:
        op->kind = GUARDED_ADD;
        break;
    case LOCAL:
        op->kind = prng_chance(prng, 60) ? STORE : LOAD;
        break;
    case IDLE:
        break;
    }
}

/* Choose the elements at the target; 0 if there is no legal place. */
static int place(struct op *op, const struct region *region, struct prng *prng)
{
    const struct side *side = &op->window->side[op->target];
    int extent = op->type->extent;
    int slots = region->words ? region->words : region->bytes / extent;
    int first = region->mode == GUARDED ? 0 : prng_below(prng, slots), shift;

    op->at = region->at + first * extent;
    slots -= first;
    shift = op->at % side->unit;
    op->n = prng_range(prng, 1, slots < 12 ? slots : 12);
    if (prng_chance(prng, 10))
        op->n = slots;
    if (one_element(op)) {
        op->n = 1;
        layout_plain(&op->to, 1);
        return shift == 0;
    }
    if (op->kind == STORE || op->kind == LOAD)
        layout_plain(&op->to, op->n);
    else
        layout_random(&op->to, prng, op->n, slots, shift, 0);
    return 1;
}

static int trace_op(struct program *p, struct op *op,
                    const struct region *region)
{
    int first = (op->at - region->at) / 8;

    op->trace = p->n_traces;
    for (int i = 0; i < op->n; i++) {
        int group = region->group[first + layout_slot(&op->to, i)];
        uint64_t bit = (uint64_t) ++group_used[group];

        if (bit > GROUP_MAX || p->n_traces == MAX_TRACES) {
            p->n_traces = op->trace; /* numbers used up stay so */
            return 0;
        }
        if (region->mode == CHAIN || region->mode == GUARDED)
            bit = op->op == OP_NO_OP && op->kind != GUARDED_ADD
                      ? 0
                      : (uint64_t) 1 << bit;
        memcpy(op->data + i * 8, &bit, sizeof bit);
        p->trace[p->n_traces++] = (struct trace){
            .mode = region->mode,
            .group = group,
            .phase = p->phase,
            .window = (int) (op->window - p->window),
            .target = op->window->comm->world[op->target],
            .origin = op->window->comm->world[op->origin],
            .bit = bit,
            .fetches = op->kind != ACCUMULATE};
    }
    return 1;
}

static void values_draw(struct op *op, struct prng *prng)
{
    const struct type *type = op->type;
    const struct side *side = &op->window->side[op->target];
    int tame = op->kind != PUT && operators[op->op].mpi == MPI_PROD;
    unsigned char *compare;

    for (int i = 0; i < op->n; i++)
        type_value(type, prng, tame, op->data + i * type->extent);
    compare = op->data + op->n * type->extent;
    if (op->kind != COMPARE_AND_SWAP)
        return;
    type_value(type, prng, 0, compare);
    if (prng_chance(prng, 60))
        memcpy(compare, side->model + op->at, (size_t) type->extent);
}

static int brings_values(const struct op *op)
{
    return op->kind == GET || op->kind == GET_ACCUMULATE ||
           op->kind == FETCH_AND_OP || op->kind == COMPARE_AND_SWAP ||
           op->kind == LOAD;
}

static void manner_draw(struct op *op, struct prng *prng)
{
    op->large = prng_chance(prng, 10);
    op->request = op->window->epoch == PASSIVE && op->kind <= GET_ACCUMULATE &&
                  prng_chance(prng, 25);
    op->late = prng_chance(prng, 50);
    layout_random(&op->from, prng, op->n, op->n + 16, 0, 1);
    layout_random(&op->result, prng, op->n, op->n + 16, 0, 1);
    if (one_element(op)) {
        layout_plain(&op->from, 1);
        layout_plain(&op->result, 1);
    }
    /* plain MPICH's wait returns before the values came */
    if (op->kind == GET && may_be_plain(op->window) &&
        (op->to.shape != PLAIN || op->from.shape != PLAIN ||
         op->type->class == PAIR))
        op->request = 0;
}

/* Nobody, or nothing: must change no byte anywhere. */
static void nothing_draw(struct program *p, struct op *op)
{
    struct prng *prng = &p->prng;

    op->kind = among(prng, "PGARFC");
    op->type = &types[TYPE_LONG];
    op->op = OP_SUM;
    op->n = op->kind == FETCH_AND_OP || op->kind == COMPARE_AND_SWAP;
    op->trace = -1;
    if (op->n || !(op->window->may[op->origin] >> op->target & 1) ||
        prng_chance(prng, 50))
        op->target = -1;
    if (op->target < 0)
        op->n = 1;
    op->at = 0;
    layout_plain(&op->to, op->n);
    op->data = phase_memory(2 * MAX_EXTENT);
    manner_draw(op, prng);
    p->n_ops++;
}

/* 0 when what was drawn is not defined; the next op takes its place. */
static int op_draw(struct program *p, struct op *op, struct region *region)
{
    struct prng *prng = &p->prng;
    size_t bytes;

    op->type = region->type;
    op->trace = -1;
    kind_draw(op, region, prng);
    if (!place(op, region, prng))
        return 0;
    if (region->mode == OWNED && !may_touch(op))
        return 0;
    bytes = (size_t) op->n * (size_t) op->type->extent;
    op->data = phase_memory(bytes + MAX_EXTENT);
    values_draw(op, prng);
    if (region->words) {
        memset(op->data, 0, bytes + MAX_EXTENT);
        if (!trace_op(p, op, region))
            return 0;
    } else if (region->mode != FOLD && brings_values(op)) {
        op->expect = phase_memory(bytes);
        op->expect_known = phase_memory(bytes);
    }
    manner_draw(op, prng);
    if (region->mode == OWNED)
        touch(op);
    model_apply(op);
    p->n_ops++;
    return 1;
}

static void try_op(struct program *p, struct window *w, int origin, int round)
{
    struct op *op = &p->op[p->n_ops];
    struct prng *prng = &p->prng;
    int self = w->epoch != PASSIVE || w->may[origin] >> origin & 1;

    for (int tries = 0; tries < TRIES; tries++) {
        int local = self && prng_chance(prng, 15), t, i;
        struct region *region;

        t = local ? origin : prng_below(prng, w->comm->n);
        *op = (struct op){
            .window = w, .origin = origin, .target = t, .round = round};
        if (!local && !(w->may[origin] >> t & 1))
            continue;
        if (prng_chance(prng, 5) && w->may[origin]) {
            nothing_draw(p, op);
            return;
        }
        if (!w->side[t].regions)
            continue;
        i = prng_below(prng, w->side[t].regions);
        region = &w->side[t].region[i];
        op->region = i;
        if (region->mode == LOCAL ? !local : !(region->origins >> origin & 1))
            continue;
        if (region->mode != LOCAL && !(w->may[origin] >> t & 1))
            continue;
        if (op_draw(p, op, region))
            return;
    }
}

/* Every holder of an exclusive lock changes the first word it guards, so that
 * two that are inside together are noticed. */
static void guarded_contend(struct program *p, struct window *w)
{
    for (int t = 0; t < w->comm->n; t++)
        for (int i = 0; i < w->side[t].regions; i++) {
            struct region *region = &w->side[t].region[i];

            for (int o = 0; o < w->comm->n; o++) {
                struct op *op = &p->op[p->n_ops];

                if (region->mode != GUARDED || !(region->origins >> o & 1) ||
                    p->n_ops == MAX_OPS)
                    continue;
                *op = (struct op){
                    .window = w, .origin = o, .target = t, .region = i};
                op_draw(p, op, region);
            }
        }
}

/* What an origin has flushed it may touch in another way. */
static void forget_touched(struct window *w, int round)
{
    for (int t = 0; t < w->comm->n; t++)
        for (int i = 0; i < w->side[t].regions; i++) {
            const struct region *region = &w->side[t].region[i];
            enum separator separator = w->separator[region->owner][round];

            if (region->mode == OWNED &&
                (separator == FLUSH || separator == FLUSH_ALL))
                memset(w->side[t].touched + region->at, UNTOUCHED,
                       (size_t) region->bytes);
        }
}

static void round_ends(struct program *p, int round)
{
    for (int i = 0; i < p->n_windows; i++) {
        struct window *w = &p->window[i];

        if (!w->alive || round + 1 >= w->rounds)
            continue;
        if (w->handoff)
            modes_again(p, w);
        else
            forget_touched(w, round);
    }
}

/* Who won and who came last is known to MPI only. */
static void outcomes_forget(struct window *w)
{
    for (int t = 0; t < w->comm->n; t++)
        for (int i = 0; i < w->side[t].regions; i++) {
            const struct region *region = &w->side[t].region[i];

            if (region->mode == ONE_WINS || region->mode == SWAPS)
                memset(w->side[t].known + region->at, 0,
                       (size_t) region->bytes);
        }
}

void operations_generate(struct program *p)
{
    struct prng *prng = &p->prng;
    int density = prng_range(prng, 1, 6);

    for (int i = 0; i < p->n_windows; i++)
        if (p->window[i].alive)
            guarded_contend(p, &p->window[i]);
    for (int round = 0; round < MAX_ROUNDS; round++) {
        for (int i = density * world_size * p->n_windows; i > 0; i--) {
            struct window *w = &p->window[prng_below(prng, p->n_windows)];
            int origin = prng_below(prng, w->comm->n);

            if (w->alive && round < w->rounds && p->n_ops < MAX_OPS)
                try_op(p, w, origin, round);
        }
        round_ends(p, round);
    }
    for (int i = 0; i < p->n_windows; i++)
        if (p->window[i].alive)
            outcomes_forget(&p->window[i]);
    if (p->phase == p->phases - 1)
        memset(group_used, 0, sizeof group_used);
}
