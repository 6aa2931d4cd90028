/* SPDX-License-Identifier: BSD-3-Clause */
/* Random programs of collectives on data that lie in another way on each rank:
 * all ranks draw the same operations from (seed, number); each draws for itself
 * how its data lie (typed_side.c: gaps, below the address of the call,
 * interleaved, backwards, by absolute addresses, none), MPI_IN_PLACE where only
 * a root may say it, large counts, and when it comes. Every byte of both
 * buffers and of guard zones around them is compared with what it must be: the
 * result, which is computed without MPI, and otherwise what was there before,
 * also where MPI leaves open what a call does to it and MPICH leaves it alone.
 *
 *   coll_typed SEED PROGRAMS [FIRST [OPERATION [blocking]]]
 *
 * OPERATION: allgather, say; "all" is all of them. TYPED_GO_ON=1 goes on after
 * a failure, TYPED_RELATIVE=1 has no absolute addresses: where is a fault? */
#include "typed.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    CALLS_MOST = 24,
    AT_ONCE_MOST = 4, /* non-blocking operations under way */
    COMMS = 5,
    DELAY_MOST_US = 300,
    /* MPICH's MPI_Reduce of 2 KiB and more ends with a signal where another
     * root than 0 says MPI_IN_PLACE (4.0.2), its MPI_Reduce_scatter of 512 KiB
     * and more aborts in place where a rank's block is larger than all before
     * it, and its MPI_Allgatherv cuts messages by the extent of the caller's
     * own type: bytes up to which they do what they must. */
    REDUCE_IN_PLACE_MOST = 1024,
    SCATTER_IN_PLACE_MOST = 20000,
    ALLGATHERV_MOST = 16000,
};

static const char *const names[] = {
    "barrier",        "bcast",     "reduce",
    "scatter",        "gather",    "allgather",
    "alltoall",       "allreduce", "reduce_scatter_block",
    "scan",           "exscan",    "allgatherv",
    "reduce_scatter", "alltoallv",
};

struct basic {
    MPI_Datatype type;
    int size;
};

static const struct basic moved[] = {
    {MPI_CHAR, 1}, {MPI_SHORT, 2}, {MPI_INT, 4}, {MPI_DOUBLE, 8}};
static const struct basic combined[] = {
    {MPI_SIGNED_CHAR, 1}, {MPI_INT, 4}, {MPI_INT64_T, 8}, {MPI_DOUBLE, 8}};
static const MPI_Op reductions[] = {MPI_SUM, MPI_PROD, MPI_MAX, MPI_MIN,
                                    MPI_BXOR};

/* What all ranks have alike. */
struct program {
    enum kind kind;
    int number, comm, calls, n, unit, root, basic, reduction, in_place, later;
    /* MPICH waits for ever where a rank has no elements and another has some of
     * a type that is empty: all ranks have the one or the other. */
    int empty;
    int counts[RANKS_MOST];
};

static MPI_Comm comms[COMMS];
static int world_rank, world_size, wrong;
static struct prng own; /* this rank's */

static void fail(const struct program *p, const struct op *op, int call,
                 const char *what, long at)
{
    const struct side *to = &op->to;

    fprintf(stderr,
            "program %d, %s%s of %d elements of %d bytes, root %d, reduction "
            "%d, in "
            "place %d, comm %d, call %d, rank %d of %d, map of %d, extent "
            "%ld: %s%ld\n",
            p->number, p->later ? "i" : "", names[p->kind], p->n, to->size,
            op->root, p->reduction, op->in_place, p->comm, call, op->rank,
            op->size, to->map, to->extent, what, at);
    wrong = 1;
    if (!getenv("TYPED_GO_ON"))
        MPI_Abort(MPI_COMM_WORLD, 1);
}

/* ---- operations --------------------------------------------------------- */

static int is_reduction(enum kind kind)
{
    return kind == REDUCE || kind == ALLREDUCE || kind == SCAN ||
           kind == EXSCAN || kind == REDUCE_SCATTER_BLOCK ||
           kind == REDUCE_SCATTER;
}

static int is_rooted(enum kind kind)
{
    return kind == BCAST || kind == REDUCE || kind == SCATTER || kind == GATHER;
}

static int scatters(enum kind kind)
{
    return kind == SCATTER || kind == ALLTOALL || kind == ALLTOALLV ||
           kind == REDUCE_SCATTER_BLOCK || kind == REDUCE_SCATTER;
}

static int gathers(enum kind kind)
{
    return kind == GATHER || kind == ALLGATHER || kind == ALLTOALL ||
           kind == ALLGATHERV || kind == ALLTOALLV;
}

static int has_counts(enum kind kind)
{
    return kind == ALLGATHERV || kind == REDUCE_SCATTER || kind == ALLTOALLV;
}

static const struct basic *basic_of(const struct program *p)
{
    return is_reduction(p->kind) ? &combined[p->basic] : &moved[p->basic];
}

/* ---- values ------------------------------------------------------------- */

static uint64_t number(int call, int from, int to, int i)
{
    struct prng prng = {(uint64_t) call << 48 ^ (uint64_t) from << 40 ^
                        (uint64_t) to << 32 ^ (uint64_t) i};

    return prng_next(&prng);
}

/* Small numbers, of which sums and products of all ranks are exact as doubles,
 * and none of them is a zero with a sign. */
static int64_t operand(int call, int from, int to, int i)
{
    static const int64_t some[] = {-3, -1, 1, 2};

    return some[number(call, from, to, i) % 4];
}

static int64_t combine(int reduction, int64_t a, int64_t b)
{
    switch (reduction) {
    case 0:
        return a + b;
    case 1:
        return a * b;
    case 2:
        return a > b ? a : b;
    case 3:
        return a < b ? a : b;
    default:
        return a ^ b;
    }
}

static void store(const struct program *p, int64_t value, void *out)
{
    const struct basic *basic = basic_of(p);
    double real = (double) value;

    /* The low bytes come first. */
    memcpy(out, basic->type == MPI_DOUBLE ? (void *) &real : (void *) &value,
           (size_t) basic->size);
}

/* What a rank gives to another. */
static void given(const struct program *p, int call, int from, int to, int i,
                  void *out)
{
    uint64_t value = number(call, from, to, i);

    if (is_reduction(p->kind))
        store(p, operand(call, from, to, i), out);
    else
        memcpy(out, &value, (size_t) basic_of(p)->size);
}

/* Of ranks 0 to last. */
static void reduced(const struct program *p, int call, int last, int to, int i,
                    void *out)
{
    int64_t result = operand(call, 0, to, i);

    for (int r = 1; r <= last; r++)
        result = combine(p->reduction, result, operand(call, r, to, i));
    store(p, result, out);
}

/* ---- one operation ------------------------------------------------------ */

/* Elements from one rank to another; in place as many as there come back. */
static int exchanged(const struct op *op, int from, int to)
{
    return op->counts[(op->in_place ? from + to : 2 * from + to) % op->size];
}

/* Of MPI_Alltoallv: of blocks that this rank sends, and that it receives. */
static void exchange_lengths(const struct op *op, int *sent, int *received)
{
    for (int r = 0; r < op->size; r++) {
        sent[r] = exchanged(op, op->rank, r);
        received[r] = exchanged(op, r, op->rank);
    }
}

static void make_sides(struct op *op, const struct program *p)
{
    const struct basic *basic = basic_of(p);
    int whole[RANKS_MOST], sent[RANKS_MOST], received[RANKS_MOST],
        takes_input = op->in_place && scatters(op->kind) && op->kind != SCATTER;
    struct wish wish = {
        .basic = basic->type,
        .size = basic->size,
        .unit = p->unit,
        .plain = is_reduction(p->kind),
        .empty = p->empty && !is_reduction(p->kind) && !has_counts(p->kind),
        .length = op->counts,
    };

    for (int r = 0; r < op->size; r++)
        whole[r] = p->n;
    exchange_lengths(op, sent, received);
    wish.blocks = scatters(op->kind) ? op->size : 1;
    if (op->kind == ALLGATHERV)
        wish.length = &op->counts[op->rank];
    else if (op->kind == ALLTOALLV)
        wish.length = sent;
    else if (op->kind != REDUCE_SCATTER)
        wish.length = whole;
    wish.scattered = op->kind == ALLTOALLV && op->size > 1;
    side_make(&op->from, &wish, &own);
    wish.length = op->kind == ALLTOALLV  ? received
                  : has_counts(op->kind) ? op->counts
                                         : whole;
    wish.blocks = gathers(op->kind) || takes_input ? op->size : 1;
    /* MPICH does not look at displs of one rank. */
    wish.scattered = (op->kind == ALLGATHERV || op->kind == ALLTOALLV) &&
                     op->size > 1;
    if (op->kind == REDUCE_SCATTER && !takes_input)
        wish.length = &op->counts[op->rank];
    side_make(&op->to, &wish, &own);
}

static int length_of(const struct op *op, int block, int is_sent)
{
    if (op->kind == ALLTOALLV)
        return is_sent ? exchanged(op, op->rank, block)
                       : exchanged(op, block, op->rank);
    return has_counts(op->kind) ? op->counts[block] : op->n;
}

/* This rank's contribution, where the call wants it. */
static void contribute(struct op *op, const struct program *p, int call)
{
    struct side *side = op->in_place && op->kind != SCATTER ? &op->to
                                                            : &op->from;
    int blocks = scatters(op->kind) ? op->size : 1, own_block = 0;
    char value[8];

    if (op->kind == BARRIER || (op->kind == BCAST && op->rank != op->root) ||
        (op->kind == SCATTER && op->rank != op->root))
        return;
    if (op->kind == BCAST)
        side = &op->to;
    if (side == &op->to && gathers(op->kind) && !scatters(op->kind))
        own_block = op->rank;
    for (int b = 0; b < blocks; b++)
        for (int i = 0, n = length_of(op, blocks > 1 ? b : op->rank, 1); i < n;
             i++) {
            given(p, call, op->rank, blocks > 1 ? b : 0, i, value);
            side_set(side, blocks > 1 ? b : own_block, i, value);
        }
}

/* Element i of block b of the result. Returns 0 where there is none. */
static int result(const struct op *op, const struct program *p, int call, int b,
                  int i, void *out)
{
    switch (op->kind) {
    case BARRIER:
        return 0;
    case BCAST:
        given(p, call, op->root, 0, i, out);
        return 1;
    case SCATTER:
        given(p, call, op->root, op->rank, i, out);
        return !op->in_place;
    case GATHER:
        given(p, call, b, 0, i, out);
        return op->rank == op->root;
    case ALLGATHER:
    case ALLGATHERV:
        given(p, call, b, 0, i, out);
        return 1;
    case ALLTOALL:
    case ALLTOALLV:
        given(p, call, b, op->rank, i, out);
        return 1;
    case REDUCE:
        reduced(p, call, op->size - 1, 0, i, out);
        return op->rank == op->root;
    case ALLREDUCE:
        reduced(p, call, op->size - 1, 0, i, out);
        return 1;
    case SCAN:
        reduced(p, call, op->rank, 0, i, out);
        return 1;
    case EXSCAN:
        reduced(p, call, op->rank - 1, 0, i, out);
        return op->rank > 0;
    default:
        reduced(p, call, op->size - 1, op->rank, i, out);
        return 1;
    }
}

static void want(struct op *op, const struct program *p, int call)
{
    char value[8];

    side_keep(&op->from);
    side_keep(&op->to);
    for (int b = 0; b < (gathers(op->kind) ? op->size : 1); b++)
        for (int i = 0, n = length_of(op, gathers(op->kind) ? b : op->rank, 0);
             i < n; i++)
            if (result(op, p, call, b, i, value))
                side_want(&op->to, b, i, value);
}

/* Of a rooted call the root's own affair. */
static int draw_in_place(const struct program *p, const struct op *op)
{
    int bytes = p->n * basic_of(p)->size;

    if (p->kind == REDUCE_SCATTER && bytes > SCATTER_IN_PLACE_MOST)
        return 0;
    if (!is_rooted(p->kind))
        return p->in_place && p->kind != BARRIER;
    if (op->rank != op->root || p->kind == BCAST ||
        (p->kind == REDUCE && op->root != 0 && bytes > REDUCE_IN_PLACE_MOST))
        return 0;
    return prng_chance(&own, 30);
}

static void begin(struct op *op, const struct program *p, int call)
{
    *op = (struct op){
        .kind = p->kind,
        .comm = comms[p->comm],
        .n = p->n,
        .large = prng_chance(&own, 20),
        .reduction = is_reduction(p->kind) ? reductions[p->reduction]
                                           : MPI_OP_NULL,
        .later = p->later,
    };
    MPI_Comm_rank(op->comm, &op->rank);
    MPI_Comm_size(op->comm, &op->size);
    /* Each root has its turn. */
    op->root = (p->root + call) % op->size;
    memcpy(op->counts, p->counts, sizeof(op->counts));
    op->in_place = draw_in_place(p, op);
    make_sides(op, p);
    contribute(op, p, call);
    want(op, p, call);
    if (prng_chance(&own, 5))
        usleep((unsigned) prng_below(&own, DELAY_MOST_US));
    op_call(op);
    if (prng_chance(&own, 50)) {
        side_free_type(&op->from);
        side_free_type(&op->to);
    }
}

static void end(struct op *op, const struct program *p, int call)
{
    long from = side_differs(&op->from), to = side_differs(&op->to);

    if (from != LONG_MAX)
        fail(p, op, call, "what was sent differs at ", from);
    if (to != LONG_MAX)
        fail(p, op, call, "what was received differs at ", to);
    side_free(&op->from);
    side_free(&op->to);
}

static void wait_for(struct op *ops, int n)
{
    MPI_Request requests[AT_ONCE_MOST];
    MPI_Status statuses[AT_ONCE_MOST];
    int at, flag = 0;

    for (int i = 0; i < n; i++)
        requests[i] = ops[i].request;
    switch (prng_below(&own, 3)) {
    case 0:
        MPI_Waitall(n, requests, statuses);
        return;
    case 1:
        while (!flag)
            MPI_Testall(n, requests, &flag, statuses);
        return;
    default:
        for (int i = 0; i < n; i++)
            MPI_Waitany(n, requests, &at, statuses);
    }
}

/* ---- programs ----------------------------------------------------------- */

/* A duplicate, the odd and the even ranks, two halves, the first few the other
 * way round. */
static void make_comm(int i, int how)
{
    int color = 0, key = how % 2 ? world_rank : -world_rank;

    if (i == 2)
        color = world_rank % 2;
    else if (i == 3)
        color = (world_rank + how) % world_size / ((world_size + 1) / 2);
    else if (i == 4)
        color = world_rank < 1 + how % world_size;
    MPI_Comm_split(MPI_COMM_WORLD, color, key, &comms[i]);
}

static struct program draw(uint64_t seed, int number, int only, int blocking)
{
    static const int copies[] = {0, 1, 2, 3, 5, 16, 61, 250, 1300, 10000};
    struct prng prng = {seed * 1000003 + (uint64_t) number};
    struct program p = {.number = number};

    p.kind = (enum kind) prng_below(&prng, KINDS);
    if (only < KINDS)
        p.kind = (enum kind) only;
    p.comm = prng_below(&prng, COMMS);
    p.unit = 1 << prng_below(&prng, 5);
    p.n = p.unit * copies[prng_below(&prng, prng_chance(&prng, 5) ? 10 : 8)];
    p.calls = prng_range(&prng, 1, CALLS_MOST);
    p.root = prng_below(&prng, RANKS_MOST);
    p.basic = prng_below(&prng, 4);
    p.reduction = prng_below(&prng,
                             combined[p.basic].type == MPI_DOUBLE ? 4 : 5);
    p.in_place = prng_chance(&prng, 30);
    p.later = prng_chance(&prng, 30) && !blocking;
    p.empty = prng_chance(&prng, 50);
    if (p.kind == ALLGATHERV && p.n * basic_of(&p)->size > ALLGATHERV_MOST)
        p.n = p.unit;
    for (int r = 0; r < RANKS_MOST; r++)
        p.counts[r] = prng_chance(&prng, 30)
                          ? p.n
                          : p.unit * prng_below(&prng, p.n / p.unit + 1);
    if (p.comm > 0 && prng_chance(&prng, 5)) {
        MPI_Comm_free(&comms[p.comm]);
        make_comm(p.comm, prng_below(&prng, RANKS_MOST));
    }
    return p;
}

static void run(const struct program *p)
{
    struct op ops[AT_ONCE_MOST];

    for (int call = 0; call < p->calls;) {
        int n = 0;

        do
            begin(&ops[n], p, call + n);
        while (++n < AT_ONCE_MOST && p->later && call + n < p->calls);
        if (p->later)
            wait_for(ops, n);
        for (int i = 0; i < n; i++)
            end(&ops[i], p, call + i);
        call += n;
    }
}

static int kind_of(const char *name)
{
    int kind = 0;

    while (kind < KINDS && strcmp(names[kind], name) != 0)
        kind++;
    return kind;
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    int programs = argc > 2 ? atoi(argv[2]) : 100;
    int first = argc > 3 ? atoi(argv[3]) : 0;
    int only = argc > 4 ? kind_of(argv[4]) : KINDS;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    own.state = seed + 77777 * (uint64_t) world_rank;
    comms[0] = MPI_COMM_WORLD;
    for (int i = 1; i < COMMS; i++)
        make_comm(i, 1);
    for (int i = first; i < first + programs; i++) {
        struct program p = draw(seed, i, only, argc > 5);

        run(&p);
    }
    for (int i = 1; i < COMMS; i++)
        MPI_Comm_free(&comms[i]);
    MPI_Finalize();
    if (world_rank == 0 && !wrong)
        printf("ok coll_typed %d programs, seed %llu\n", programs,
               (unsigned long long) seed);
    return wrong;
}
