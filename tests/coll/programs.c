/* SPDX-License-Identifier: BSD-3-Clause */
/* Random programs of collectives. All ranks draw the same program from (seed,
 * number): a communicator, which may be made anew, of others or of the same
 * ranks in another order, an operation, sizes, and how often it is called;
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

enum {
    CALLS_MOST = 24,
    GAP = 0x5a5a5a5a,
    DELAY_MOST_US = 300,
    RANKS_MOST = 64,
    /* MPICH's ring for MPI_Allgatherv cuts messages by the extent of the
     * caller's own type: ranks whose types differ may not have large ones. */
    SPACED_MOST = 1000,
    /* MPICH's MPI_Reduce_scatter of 512 KiB and more aborts with MPI_IN_PLACE
     * where a rank's block is larger than all before it. */
    IN_PLACE_MOST = 5000,
};

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
    ALLGATHERV,
    REDUCE_SCATTER,
    ALLTOALLV,
    KINDS
};

static const char *const names[] = {
    "barrier",        "bcast",     "reduce",
    "scatter",        "gather",    "allgather",
    "alltoall",       "allreduce", "reduce_scatter_block",
    "scan",           "exscan",    "allgatherv",
    "reduce_scatter", "alltoallv",
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
    int sent; /* the side that is sent */
    /* Of each block: ints before it, and in it. */
    int first[RANKS_MOST], length[RANKS_MOST];
};

struct program {
    enum kind kind;
    int n, calls, root, op, in_place, comm, number;
    int renewed; /* the communicator is made anew: how, from 1; 0: it is not */
};

static const MPI_Op ops[] = {MPI_SUM, MPI_MAX, MPI_MIN, MPI_BXOR, MPI_PROD};
enum { OPS = sizeof(ops) / sizeof(ops[0]) };

static MPI_Comm comms[4];
static int rank, size, world_rank;
static struct prng own;        /* this rank's */
static int counts[RANKS_MOST]; /* of the program's blocks, where they differ */

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

static int has_counts(const struct program *p)
{
    return p->kind == ALLGATHERV || p->kind == REDUCE_SCATTER ||
           p->kind == ALLTOALLV;
}

static int has_displs(const struct program *p)
{
    return p->kind == ALLGATHERV || p->kind == ALLTOALLV;
}

/* Ints from one rank to another; in place as many as there come back. */
static int exchanged(const struct program *p, int from, int to)
{
    return counts[(p->in_place ? from + to : 2 * from + to) % size];
}

static int length_of(const struct data *d, const struct program *p, int block)
{
    if (!has_counts(p))
        return p->n;
    if (p->kind == ALLTOALLV)
        return d->sent ? exchanged(p, rank, block) : exchanged(p, block, rank);
    return counts[d->blocks > 1 ? block : rank];
}

/* Where blocks lie: of the same length, or as they are counted, one after the
 * other; those that a call places by displs turned round by this rank's own
 * choice, with room between them. */
static void place(struct data *d, const struct program *p)
{
    int turn = has_displs(p) ? prng_below(&own, d->blocks) : 0, at = 0;

    for (int b = 0; b < d->blocks; b++) {
        d->length[b] = length_of(d, p, b);
        d->first[b] = has_displs(p) ? (b + turn) % d->blocks * p->n : at;
        at += d->length[b];
    }
}

static void make_type(struct data *d, enum form form, int n)
{
    MPI_Datatype vector;

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

/* An element of the type is a whole block, or one int where blocks differ. */
static void make(struct data *d, const struct program *p, int plain, int blocks,
                 int sent)
{
    enum form form = plain ? PLAIN : (enum form) prng_below(&own, FORMS);
    size_t ints = (size_t) blocks * (size_t) p->n * 2 + 2;

    *d = (struct data){.blocks = blocks, .n = p->n, .step = 1, .sent = sent};
    d->memory = malloc(ints * sizeof(int));
    for (size_t i = 0; i < ints; i++)
        d->memory[i] = GAP;
    d->at = d->memory + 1;
    d->type = MPI_INT;
    place(d, p);
    d->count = d->length[0];
    if (form == PLAIN || p->n == 0 ||
        (p->kind == ALLGATHERV && p->n > SPACED_MOST))
        return;
    make_type(d, form, has_displs(p) ? 1 : p->n);
    if (!has_displs(p))
        d->count = 1;
}

static void unmake(struct data *d)
{
    if (d->type != MPI_INT)
        MPI_Type_free(&d->type);
    free(d->memory);
}

static int *element(const struct data *d, int block, int i)
{
    return d->at + (d->first[block] + i) * d->step;
}

static void check_gaps(const struct program *p, int call, const struct data *d)
{
    int ints = d->blocks * d->n * 2 + 2;
    char *inside = calloc((size_t) ints, 1);

    for (int b = 0; b < d->blocks; b++)
        for (int i = 0; i < d->length[b]; i++)
            inside[element(d, b, i) - d->memory] = 1;
    for (int i = 0; i < ints; i++)
        if (!inside[i] && d->memory[i] != GAP)
            fail(p, call, "gap", i, d->memory[i], GAP);
    free(inside);
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
    case ALLGATHERV:
        return value(call, b, 0, i);
    case ALLTOALL:
    case ALLTOALLV:
        return value(call, b, rank, i);
    case REDUCE:
    case ALLREDUCE:
        return reduced(p, call, 0, size - 1, 0, i);
    case REDUCE_SCATTER_BLOCK:
        *known = b == 0;
        return reduced(p, call, 0, size - 1, rank, i);
    case REDUCE_SCATTER:
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
    return p->kind == SCATTER || p->kind == ALLTOALL || p->kind == ALLTOALLV ||
                   p->kind == REDUCE_SCATTER_BLOCK || p->kind == REDUCE_SCATTER
               ? size
               : 1;
}

static int receives(const struct program *p, int in_place)
{
    if (p->kind == GATHER || p->kind == ALLGATHER || p->kind == ALLTOALL ||
        has_displs(p))
        return size;
    return (p->kind == REDUCE_SCATTER_BLOCK || p->kind == REDUCE_SCATTER) &&
                   in_place
               ? size
               : 1;
}

static int is_reduction(const struct program *p)
{
    return p->kind == REDUCE || p->kind == ALLREDUCE ||
           p->kind == REDUCE_SCATTER_BLOCK || p->kind == REDUCE_SCATTER ||
           p->kind == SCAN || p->kind == EXSCAN;
}

static int is_rooted(const struct program *p)
{
    return p->kind == BCAST || p->kind == REDUCE || p->kind == SCATTER ||
           p->kind == GATHER;
}

static void fill_block(struct data *d, int block, int call, int from, int to)
{
    for (int i = 0; i < d->length[block]; i++)
        *element(d, block, i) = value(call, from, to, i);
}

/* By the twin for large counts now and then, as only this rank may. */
static void allgatherv(const void *send, struct data *from, struct data *to,
                       MPI_Comm comm)
{
#if MPI_VERSION >= 4
    if (prng_chance(&own, 30)) {
        MPI_Count lengths[RANKS_MOST];
        MPI_Aint firsts[RANKS_MOST];

        for (int r = 0; r < size; r++) {
            lengths[r] = to->length[r];
            firsts[r] = to->first[r];
        }
        MPI_Allgatherv_c(send, from->count, from->type, to->at, lengths, firsts,
                         to->type, comm);
        return;
    }
#endif
    MPI_Allgatherv(send, from->count, from->type, to->at, to->length, to->first,
                   to->type, comm);
}

/* Blocks lie before and behind the address of the call. */
static void alltoallv(const void *send, struct data *from, struct data *to,
                      MPI_Comm comm)
{
    int sent_base = from->n * prng_below(&own, size);
    int base = to->n * prng_below(&own, size), sent_at[RANKS_MOST],
        at[RANKS_MOST];
    void *recv = to->at + base * to->step;

    for (int r = 0; r < size; r++) {
        sent_at[r] = from->first[r] - sent_base;
        at[r] = to->first[r] - base;
    }
    if (send != MPI_IN_PLACE)
        send = from->at + sent_base * from->step;
#if MPI_VERSION >= 4
    if (prng_chance(&own, 30)) {
        MPI_Count sent[RANKS_MOST], lengths[RANKS_MOST];
        MPI_Aint sent_firsts[RANKS_MOST], firsts[RANKS_MOST];

        for (int r = 0; r < size; r++) {
            sent[r] = from->length[r];
            lengths[r] = to->length[r];
            sent_firsts[r] = sent_at[r];
            firsts[r] = at[r];
        }
        MPI_Alltoallv_c(send, sent, sent_firsts, from->type, recv, lengths,
                        firsts, to->type, comm);
        return;
    }
#endif
    MPI_Alltoallv(send, from->length, sent_at, from->type, recv, to->length, at,
                  to->type, comm);
}

static void reduce_scatter(const void *send, struct data *to, MPI_Op op,
                           MPI_Comm comm)
{
    void *recv = send != MPI_IN_PLACE && counts[rank] == 0 ? NULL : to->at;

#if MPI_VERSION >= 4
    if (prng_chance(&own, 30)) {
        MPI_Count lengths[RANKS_MOST];

        for (int r = 0; r < size; r++)
            lengths[r] = counts[r];
        MPI_Reduce_scatter_c(send, recv, lengths, MPI_INT, op, comm);
        return;
    }
#endif
    MPI_Reduce_scatter(send, recv, counts, MPI_INT, op, comm);
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
    case ALLGATHERV:
        allgatherv(send == from->at && from->count == 0 ? NULL : send, from, to,
                   comm);
        break;
    case ALLTOALLV:
        alltoallv(send, from, to, comm);
        break;
    case REDUCE_SCATTER:
        reduce_scatter(send, to, op, comm);
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
    if (in_place &&
        (p->kind == GATHER || p->kind == ALLGATHER || p->kind == ALLGATHERV)) {
        for (int i = 0; i < to->length[0]; i++)
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
    if (p->kind == REDUCE_SCATTER) { /* one, at the start of what may be more */
        blocks = 0;
        for (int i = 0; i < counts[rank]; i++)
            if (to->at[i] != expected(p, call, 0, i, &known))
                fail(p, call, "element", i, to->at[i],
                     expected(p, call, 0, i, &known));
    }
    for (int b = 0; b < blocks; b++)
        for (int i = 0; i < to->length[b]; i++) {
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
    if (p->kind == REDUCE_SCATTER && p->n > IN_PLACE_MOST)
        return 0;
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

    make(&from, p, plain, sends(p), 1);
    make(&to, p, plain, receives(p, in_place), 0);
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

enum { CONFIGS_TO_MAKE = 3 };

/* Number i of comms: a duplicate, the odd and the even ranks, or two halves; of
 * whatever ranks, how says in which order and who is in which half. */
static void make_comm(int i, int how)
{
    int world, color = 0;

    MPI_Comm_size(MPI_COMM_WORLD, &world);
    if (i == 2)
        color = world_rank % 2;
    else if (i == 3)
        color = (world_rank + how - 1) % world / ((world + 1) / 2);
    if (i == 1 && how == 1)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    else
        MPI_Comm_split(MPI_COMM_WORLD, color,
                       how == 2 ? -world_rank : world_rank, &comms[i]);
}

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
    p.renewed = prng_chance(&prng, 20) ? prng_range(&prng, 1, CONFIGS_TO_MAKE)
                                       : 0;
    return p;
}

/* Of each block, up to n; some have none. */
static void draw_counts(const struct program *p, uint64_t seed)
{
    struct prng prng = {seed * 77003 + (uint64_t) p->number};

    for (int r = 0; r < size; r++)
        counts[r] = prng_chance(&prng, 30) ? p->n : prng_below(&prng, p->n + 1);
}

static void run(uint64_t seed, int number)
{
    struct program p = draw(seed, number);

    if (p.renewed && p.comm > 0) {
        MPI_Comm_free(&comms[p.comm]);
        make_comm(p.comm, p.renewed);
    }
    MPI_Comm_rank(comms[p.comm], &rank);
    MPI_Comm_size(comms[p.comm], &size);
    p.root %= size;
    draw_counts(&p, seed);
    for (int call = 0; call < p.calls; call++)
        one_call(&p, call);
}

int main(int argc, char **argv)
{
    int programs, first;
    uint64_t seed;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    programs = argc > 2 ? atoi(argv[2]) : 100;
    first = argc > 3 ? atoi(argv[3]) : 0;
    own.state = seed + 77777 * (uint64_t) world_rank;
    comms[0] = MPI_COMM_WORLD;
    for (int i = 1; i < 4; i++)
        make_comm(i, i == 2 ? 2 : 1);
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
