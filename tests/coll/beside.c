/* SPDX-License-Identifier: BSD-3-Clause */
/* usage: coll_beside CALLS [SEED]
 *
 * Collectives, each carried out twice with the same data: on a communicator
 * whose collectives stay MPI's, and on one like it whose do not. Every byte of
 * both buffers must be the same afterwards on every rank, also of those that
 * MPI leaves open: send buffers, gaps between elements and between blocks,
 * receive buffers of ranks that get nothing, and what lies behind the result,
 * as with MPI_IN_PLACE. Prints
 *
 *   beside: 400 calls, 0 differ */
#include "../random/prng.h"

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS_MOST = 16, COUNT_MOST = 1500, STRIDE = 3, AROUND = 64 };

/* Ints of a buffer: blocks for all ranks, each with some between, of elements
 * with gaps. */
enum { INTS = RANKS_MOST * (COUNT_MOST + 4) * STRIDE + 2 * AROUND };

enum op {
    BCAST,
    REDUCE,
    ALLREDUCE,
    GATHER,
    SCATTER,
    ALLGATHER,
    ALLTOALL,
    REDUCE_SCATTER_BLOCK,
    REDUCE_SCATTER,
    SCAN,
    EXSCAN,
    GATHERV,
    SCATTERV,
    ALLGATHERV,
    ALLTOALLV,
    OPS
};

static const char *const names[] = {
    "bcast",          "reduce",     "allreduce", "gather",
    "scatter",        "allgather",  "alltoall",  "reduce_scatter_block",
    "reduce_scatter", "scan",       "exscan",    "gatherv",
    "scatterv",       "allgatherv", "alltoallv",
};

struct call {
    enum op op;
    int n, root, in_place, begun;
    MPI_Datatype type;
    MPI_Op reduction;
    int counts[RANKS_MOST], displs[RANKS_MOST];
};

struct buffers {
    int in[INTS], out[INTS];
};

static struct buffers plain, tuned;
static int rank, size;

/* The blocking one, or the other and a wait for it at the end. */
#define CALL(NAME, Name, ...)                                                  \
    do {                                                                       \
        if (c->begun)                                                          \
            MPI_I##Name(__VA_ARGS__, comm, &request);                          \
        else                                                                   \
            MPI_##NAME(__VA_ARGS__, comm);                                     \
    } while (0)

static void carry_out(const struct call *c, MPI_Comm comm, struct buffers *b)
{
    MPI_Datatype t = c->type;
    MPI_Request request = MPI_REQUEST_NULL;
    int root = c->root, n = c->n, own = c->counts[rank];
    int *out = b->out + AROUND;
    int is_root = rank == root;
    const void *in = b->in + AROUND;
    /* In place where all say so, and where the root does. */
    const void *all = c->in_place ? MPI_IN_PLACE : in;
    const void *at_root = c->in_place && is_root ? MPI_IN_PLACE : in;
    void *of_root = c->in_place && is_root ? MPI_IN_PLACE : out;
    int sent[RANKS_MOST], at[RANKS_MOST]; /* of alltoallv */

    for (int r = 0; r < size; r++) {
        sent[r] = own; /* a rank gets as much from all */
        at[r] = r * (COUNT_MOST + 2);
    }
    switch (c->op) {
    case BCAST:
        CALL(Bcast, bcast, out, n, t, root);
        break;
    case REDUCE:
        CALL(Reduce, reduce, at_root, out, n, t, c->reduction, root);
        break;
    case ALLREDUCE:
        CALL(Allreduce, allreduce, all, out, n, t, c->reduction);
        break;
    case GATHER:
        CALL(Gather, gather, at_root, n, t, out, n, t, root);
        break;
    case SCATTER:
        CALL(Scatter, scatter, in, n, t, of_root, n, t, root);
        break;
    case ALLGATHER:
        CALL(Allgather, allgather, all, n, t, out, n, t);
        break;
    case ALLTOALL:
        CALL(Alltoall, alltoall, all, n, t, out, n, t);
        break;
    case REDUCE_SCATTER_BLOCK:
        CALL(Reduce_scatter_block, reduce_scatter_block, all, out, n, t,
             c->reduction);
        break;
    case REDUCE_SCATTER:
        CALL(Reduce_scatter, reduce_scatter, all, out, c->counts, t,
             c->reduction);
        break;
    case SCAN:
        CALL(Scan, scan, all, out, n, t, c->reduction);
        break;
    case EXSCAN:
        CALL(Exscan, exscan, all, out, n, t, c->reduction);
        break;
    case GATHERV:
        CALL(Gatherv, gatherv, at_root, own, t, out, c->counts, c->displs, t,
             root);
        break;
    case SCATTERV:
        CALL(Scatterv, scatterv, in, c->counts, c->displs, t, of_root, own, t,
             root);
        break;
    case ALLGATHERV:
        CALL(Allgatherv, allgatherv, all, own, t, out, c->counts, c->displs, t);
        break;
    case ALLTOALLV:
        CALL(Alltoallv, alltoallv, all, sent, at, t, out, c->counts, c->displs,
             t);
        break;
    case OPS:
        break;
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static int reduces(enum op op)
{
    return op == REDUCE || op == ALLREDUCE || op == REDUCE_SCATTER_BLOCK ||
           op == REDUCE_SCATTER || op == SCAN || op == EXSCAN;
}

static void draw(struct prng *random, MPI_Datatype spaced, struct call *c)
{
    static const int counts[] = {1, 5, 40, COUNT_MOST};
    static const MPI_Op reductions[] = {MPI_SUM, MPI_MAX, MPI_BXOR};
    int turn, some;

    c->op = (enum op) prng_below(random, OPS);
    c->n = counts[prng_below(random, 4)];
    c->root = prng_below(random, size);
    c->in_place = prng_chance(random, 50);
    /* MPICH 4.0 reads at the address MPI_IN_PLACE where a root on several nodes
     * is not rank 0. */
    if (c->op == REDUCE && c->in_place)
        c->root = 0;
    c->begun = prng_chance(random, 15);
    c->type = prng_chance(random, 30) && !reduces(c->op) ? spaced : MPI_INT;
    c->reduction = reductions[prng_below(random, 3)];
    turn = prng_below(random, size);
    some = prng_chance(random, 30);
    for (int r = 0; r < size; r++) {
        c->counts[r] = some && r % 2 ? 0 : c->n - (c->n > 4 ? r % 4 : 0);
        c->displs[r] = (r + turn) % size * (COUNT_MOST + 2);
    }
    /* In place, what two ranks exchange is as long in both directions. */
    for (int r = 0; r < size && c->op == ALLTOALLV && c->in_place; r++)
        c->counts[r] = c->n;
}

/* Is an int of two buffers not the same? Of the first such call, say which. */
static int compare(const struct call *c, int number, const char *what,
                   const int *one, const int *other)
{
    static int told;

    for (int i = 0; i < INTS; i++) {
        if (one[i] == other[i])
            continue;
        if (told++ == 0)
            printf("call %d, %s of %d%s%s%s, root %d, rank %d of %d: int %d of "
                   "the %s buffer is %d and not %d\n",
                   number, names[c->op], c->n,
                   c->type == MPI_INT ? "" : ", spaced",
                   c->in_place ? ", in place" : "",
                   c->begun ? ", non-blocking" : "", c->root, rank, size,
                   i - AROUND, what, other[i], one[i]);
        return 1;
    }
    return 0;
}

static void fill(int number)
{
    for (int i = 0; i < INTS; i++) {
        plain.in[i] = number + rank * 100 + i % 97;
        plain.out[i] = -(number + rank * 100 + i % 89);
    }
    memcpy(&tuned, &plain, sizeof(plain));
}

int main(int argc, char **argv)
{
    int calls = argc > 1 ? atoi(argv[1]) : 100, differing = 0, all = 0;
    struct prng random = {argc > 2 ? strtoull(argv[2], NULL, 10) : 1};
    MPI_Datatype spaced;
    MPI_Comm mpi, ours;
    MPI_Info info;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size > RANKS_MOST)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Comm_dup(MPI_COMM_WORLD, &ours);
    MPI_Comm_dup(MPI_COMM_WORLD, &mpi);
    MPI_Info_create(&info);
    MPI_Info_set(info, "aspen_coll", "off");
    MPI_Comm_set_info(mpi, info);
    MPI_Info_free(&info);
    MPI_Type_create_resized(MPI_INT, 0, STRIDE * (MPI_Aint) sizeof(int),
                            &spaced);
    MPI_Type_commit(&spaced);
    for (int i = 0; i < calls; i++) {
        struct call c;

        draw(&random, spaced, &c);
        fill(i);
        carry_out(&c, mpi, &plain);
        carry_out(&c, ours, &tuned);
        differing += compare(&c, i, "send", plain.in, tuned.in) |
                     compare(&c, i, "receive", plain.out, tuned.out);
    }
    MPI_Reduce(&differing, &all, 1, MPI_INT, MPI_SUM, 0, mpi);
    if (rank == 0)
        printf("beside: %d calls, %d differ\n", calls, all);
    MPI_Type_free(&spaced);
    MPI_Comm_free(&ours);
    MPI_Comm_free(&mpi);
    MPI_Finalize();
    return 0;
}
