/* SPDX-License-Identifier: BSD-3-Clause */
/* Random programs of collectives. All ranks draw the same program from (seed,
 * number): a communicator, an operation, sizes, and how often it is called;
 * what a rank has of its own (layout of its types, MPI_IN_PLACE of a root, when
 * it comes) it draws from a generator of its own. Element i of a rank's
 * contribution is a function of call, rank and i, so every result is computed
 * without MPI and compared, gaps between elements included.
 *
 *   coll_programs SEED PROGRAMS [FIRST] */
#include "../random/prng.h"

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CALLS_MOST = 24, GAP = 0x5a5a5a5a, DELAY_MOST_US = 300 };

enum kind {
    BARRIER,
    BCAST,
    REDUCE,
    SCATTER,
    GATHER,
    ALLGATHER,
    ALLTOALL,
    ALLREDUCE,
    REDUCE_SCATTER_BLOCK,
    SCAN,
    EXSCAN,
    KINDS
};

static const char *const names[] = {
    "barrier",  "bcast",     "reduce",
    "scatter",  "gather",    "allgather",
    "alltoall", "allreduce", "reduce_scatter_block",
    "scan",     "exscan",
};

/* How a rank's ints lie: one after the other, as one element of a type of the
 * program, or every second one. */
enum form { PLAIN, WHOLE, SPACED, FORMS };

struct data {
    int *at, *end; /* with a gap before and after */
    int *memory;
    MPI_Datatype type;
    int count; /* elements of the type in a block */
    int blocks, n, step;
};

struct program {
    enum kind kind;
    int n, calls, root, op, in_place, comm, number;
};

static const MPI_Op ops[] = {MPI_SUM, MPI_MAX, MPI_MIN, MPI_BXOR, MPI_PROD};
enum { OPS = sizeof(ops) / sizeof(ops[0]) };

static MPI_Comm comms[4];
static int rank, size, world_rank;
static struct prng own; /* this rank's */

static void fail(const struct program *p, int call, const char *what, int i,
                 int is, int should)
{
    fprintf(stderr,
            "program %d, %s of %d ints, root %d, op %d, comm %d, call %d, rank "
            "%d of %d: %s %d is %d and not %d\n",
            p->number, names[p->kind], p->n, p->root, p->op, p->comm, call,
            rank, size, what, i, is, should);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* ---- data ------------------------------------------------------------------- */

static int value(int call, int from, int to, int i)
{
    return (call * 31 + from * 7 + to * 3 + i) % 13 - 4;
}

static void make(struct data *d, enum form form, int blocks, int n)
{
    size_t ints = (size_t) blocks * (size_t) n * 2 + 2;
    MPI_Datatype vector;

    *d = (struct data){.blocks = blocks, .n = n, .step = 1};
    d->memory = malloc(ints * sizeof(int));
    for (size_t i = 0; i < ints; i++)
        d->memory[i] = GAP;
    d->at = d->memory + 1;
    d->type = MPI_INT;
    d->count = n;
    if (form == PLAIN || n == 0)
        return;
    d->count = 1;
    if (form == WHOLE) {
        MPI_Type_contiguous(n, MPI_INT, &d->type);
    } else {
        d->step = 2;
        MPI_Type_vector(n, 1, 2, MPI_INT, &vector);
        MPI_Type_create_resized(
            vector, 0, (MPI_Aint) (2 * (size_t) n * sizeof(int)), &d->type);
        MPI_Type_free(&vector);
    }
    MPI_Type_commit(&d->type);
}

static void unmake(struct data *d)
{
    if (d->type != MPI_INT)
        MPI_Type_free(&d->type);
    free(d->memory);
}

static int *element(const struct data *d, int block, int i)
{
    return d->at + (block * d->n + i) * d->step;
}

static void check_gaps(const struct program *p, int call, const struct data *d)
{
    int ints = d->blocks * d->n * 2 + 2;

    for (int i = 0; i < ints; i++) {
        int inside = i - 1;

        if (inside >= 0 && inside < d->blocks * d->n * d->step &&
            inside % d->step == 0)
            continue;
        if (d->memory[i] != GAP)
            fail(p, call, "gap", i, d->memory[i], GAP);
    }
}

/* ---- what must come out ------------------------------------------------------- */

static int combine(int op, int a, int b)
{
    switch (op) {
    case 0:
        return a + b;
    case 1:
        return a > b ? a : b;
    case 2:
        return a < b ? a : b;
    case 3:
        return a ^ b;
    default:
        return (int) ((unsigned) a * (unsigned) b);
    }
}

/* Of ranks first to last, for the block that goes to `to`. */
static int reduced(const struct program *p, int call, int first, int last,
                   int to, int i)
{
    int result = value(call, first, to, i);

    for (int r = first + 1; r <= last; r++)
        result = combine(p->op, result, value(call, r, to, i));
    return result;
}

/* Element i of block b of this rank's result; *known is 0 where MPI says
 * nothing. */
static int expected(const struct program *p, int call, int b, int i, int *known)
{
    *known = 1;
    switch (p->kind) {
    case BCAST:
        return value(call, p->root, 0, i);
    case SCATTER:
        return value(call, p->root, rank, i);
    case GATHER:
    case ALLGATHER:
        return value(call, b, 0, i);
    case ALLTOALL:
        return value(call, b, rank, i);
    case REDUCE:
    case ALLREDUCE:
        return reduced(p, call, 0, size - 1, 0, i);
    case REDUCE_SCATTER_BLOCK:
        *known = b == 0;
        return reduced(p, call, 0, size - 1, rank, i);
    case SCAN:
        return reduced(p, call, 0, rank, 0, i);
    case EXSCAN:
        *known = rank > 0;
        return rank > 0 ? reduced(p, call, 0, rank - 1, 0, i) : 0;
    default:
        return 0;
    }
}

/* ---- calls ------------------------------------------------------------------ */

/* Blocks of the two sides. */
static int sends(const struct program *p)
{
    return p->kind == SCATTER || p->kind == ALLTOALL ||
                   p->kind == REDUCE_SCATTER_BLOCK
               ? size
               : 1;
}

static int receives(const struct program *p, int in_place)
{
    if (p->kind == GATHER || p->kind == ALLGATHER || p->kind == ALLTOALL)
        return size;
    return p->kind == REDUCE_SCATTER_BLOCK && in_place ? size : 1;
}

static int is_reduction(const struct program *p)
{
    return p->kind == REDUCE || p->kind == ALLREDUCE ||
           p->kind == REDUCE_SCATTER_BLOCK || p->kind == SCAN ||
           p->kind == EXSCAN;
}

static int is_rooted(const struct program *p)
{
    return p->kind == BCAST || p->kind == REDUCE || p->kind == SCATTER ||
           p->kind == GATHER;
}

static void fill_block(struct data *d, int block, int call, int from, int to)
{
    for (int i = 0; i < d->n; i++)
        *element(d, block, i) = value(call, from, to, i);
}

static void carry_out(const struct program *p, const void *send,
                      struct data *from, struct data *to)
{
    MPI_Comm comm = comms[p->comm];
    MPI_Op op = ops[p->op];

    switch (p->kind) {
    case BARRIER:
        MPI_Barrier(comm);
        break;
    case BCAST:
        MPI_Bcast(to->at, to->count, to->type, p->root, comm);
        break;
    case REDUCE:
        MPI_Reduce(send, to->at, p->n, MPI_INT, op, p->root, comm);
        break;
    case SCATTER:
        MPI_Scatter(from->at, from->count, from->type,
                    send == MPI_IN_PLACE ? MPI_IN_PLACE : to->at, to->count,
                    to->type, p->root, comm);
        break;
    case GATHER:
        MPI_Gather(send, from->count, from->type, to->at, to->count, to->type,
                   p->root, comm);
        break;
    case ALLGATHER:
        MPI_Allgather(send, from->count, from->type, to->at, to->count,
                      to->type, comm);
        break;
    case ALLTOALL:
        MPI_Alltoall(send, from->count, from->type, to->at, to->count, to->type,
                     comm);
        break;
    case ALLREDUCE:
        MPI_Allreduce(send, to->at, p->n, MPI_INT, op, comm);
        break;
    case REDUCE_SCATTER_BLOCK:
        MPI_Reduce_scatter_block(send, to->at, p->n, MPI_INT, op, comm);
        break;
    case SCAN:
        MPI_Scan(send, to->at, p->n, MPI_INT, op, comm);
        break;
    default:
        MPI_Exscan(send, to->at, p->n, MPI_INT, op, comm);
    }
}

/* Put this rank's contribution where the call wants it. */
static void contribute(const struct program *p, int call, int in_place,
                       struct data *from, struct data *to)
{
    struct data *d = in_place && p->kind != SCATTER ? to : from;

    if (p->kind == BCAST) {
        if (rank == p->root)
            fill_block(to, 0, call, rank, 0);
        return;
    }
    for (int b = 0; b < sends(p); b++)
        fill_block(d, b, call, rank, sends(p) > 1 ? b : 0);
    if (in_place && (p->kind == GATHER || p->kind == ALLGATHER)) {
        for (int i = 0; i < p->n; i++)
            *element(to, 0, i) = GAP;
        fill_block(to, rank, call, rank, 0);
    }
}

static void check(const struct program *p, int call, int in_place,
                  const struct data *to)
{
    int blocks = receives(p, in_place), known;

    if ((p->kind == REDUCE || p->kind == GATHER) && rank != p->root)
        blocks = 0;
    if (p->kind == BARRIER || (p->kind == SCATTER && in_place))
        blocks = 0;
    for (int b = 0; b < blocks; b++)
        for (int i = 0; i < p->n; i++) {
            int should = expected(p, call, b, i, &known);

            if (known && *element(to, b, i) != should)
                fail(p, call, "element", b * p->n + i, *element(to, b, i),
                     should);
        }
    check_gaps(p, call, to);
}

/* Of a rooted call the root's own affair. MPICH 4.0.2 itself ends with a signal
 * in an MPI_Reduce of 2 KiB and more whose root is not 0 and says MPI_IN_PLACE.
 */
static int draw_in_place(const struct program *p)
{
    if (!is_rooted(p))
        return p->in_place && p->kind != BARRIER;
    if (rank != p->root || p->kind == BCAST ||
        (p->kind == REDUCE && p->root != 0 && p->n > 100))
        return 0;
    return prng_chance(&own, 30);
}

static void one_call(const struct program *p, int call)
{
    int plain = is_reduction(p), in_place = draw_in_place(p);
    struct data from, to;

    make(&from, plain ? PLAIN : (enum form) prng_below(&own, FORMS), sends(p),
         p->n);
    make(&to, plain ? PLAIN : (enum form) prng_below(&own, FORMS),
         receives(p, in_place), p->n);
    contribute(p, call, in_place, &from, &to);
    if (prng_chance(&own, 10))
        usleep((unsigned) prng_below(&own, DELAY_MOST_US));
    carry_out(p, in_place ? MPI_IN_PLACE : from.at, &from, &to);
    check(p, call, in_place, &to);
    check_gaps(p, call, &from);
    unmake(&from);
    unmake(&to);
}

/* ---- programs --------------------------------------------------------------- */

static struct program draw(uint64_t seed, int number)
{
    struct prng prng = {seed * 1000003 + (uint64_t) number};
    static const int sizes[] = {0, 1, 2, 3, 5, 16, 100, 1000, 5000, 40000};
    struct program p = {.number = number};

    p.kind = (enum kind) prng_below(&prng, KINDS);
    p.n = sizes[prng_below(&prng, prng_chance(&prng, 10) ? 10 : 8)];
    p.calls = prng_range(&prng, 1, CALLS_MOST);
    p.op = prng_below(&prng, OPS);
    p.in_place = prng_chance(&prng, 30);
    p.comm = prng_below(&prng, 4);
    p.root = (int) (prng_next(&prng) >> 33);
    return p;
}

static void run(uint64_t seed, int number)
{
    struct program p = draw(seed, number);

    MPI_Comm_rank(comms[p.comm], &rank);
    MPI_Comm_size(comms[p.comm], &size);
    p.root %= size;
    for (int call = 0; call < p.calls; call++)
        one_call(&p, call);
}

int main(int argc, char **argv)
{
    int programs, first, world_size;
    uint64_t seed;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    programs = argc > 2 ? atoi(argv[2]) : 100;
    first = argc > 3 ? atoi(argv[3]) : 0;
    own.state = seed + 77777 * (uint64_t) world_rank;
    comms[0] = MPI_COMM_WORLD;
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, -world_rank, &comms[2]);
    MPI_Comm_split(MPI_COMM_WORLD, world_rank / ((world_size + 1) / 2), 0,
                   &comms[3]);
    for (int i = first; i < first + programs; i++)
        run(seed, i);
    MPI_Comm_free(&comms[1]);
    MPI_Comm_free(&comms[2]);
    MPI_Comm_free(&comms[3]);
    MPI_Finalize();
    if (world_rank == 0)
        printf("ok coll_programs %d programs, seed %llu\n", programs,
               (unsigned long long) seed);
    return 0;
}
