/* SPDX-License-Identifier: BSD-3-Clause */
/* usage: coll_repeat CALLS [SIZES]
 * SIZES: 1 to 3 of 1, 40 and 3000 numbers (3).
 *
 * Reductions of floating-point numbers, each CALLS times with the same data, of
 * magnitudes such that another association gives other bits. Prints, over all
 * ranks and operations, how many calls gave other bits than the first one, in
 * how many operations the first one is not what coll.reproducible promises
 * (runtime/coll/algorithms/reproducible.h), and a hash of all first results:
 *
 *   changed 0 other 0 bits 8d3c... */
#include "../random/prng.h"

#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 3000, SIZES = 3, RANKS_MOST = 64 };

static int rank, size;
static double *in, *out, *first, *wanted;
static long changed, other;
static uint64_t bits = UINT64_C(0xcbf29ce484222325);

/* Number i of a rank, of the same operation everywhere: 2^-20 to 2^20, of both
 * signs. */
static double value(int of_rank, int i, int salt)
{
    struct prng random = {(uint64_t) of_rank * 1000003u + (uint64_t) i * 97u +
                          (uint64_t) salt * 7919u + 1};
    double x = 1 + (double) (prng_next(&random) % 1000000007u) / 1000000007.0;
    int shift = (int) (prng_next(&random) % 41) - 20;

    if (prng_next(&random) & 1)
        x = -x;
    for (; shift > 0; shift--)
        x *= 2;
    for (; shift < 0; shift++)
        x /= 2;
    return x;
}

/* Number i of the result: of ranks 0 to last, from the right; or from the left.
 */
static double from_right(int last, int i, int salt)
{
    double sum = value(last, i, salt);

    for (int r = last - 1; r >= 0; r--)
        sum = value(r, i, salt) + sum;
    return sum;
}

static double from_left(int last, int i, int salt)
{
    double sum = value(0, i, salt);

    for (int r = 1; r <= last; r++)
        sum = sum + value(r, i, salt);
    return sum;
}

enum op {
    ALLREDUCE,
    IN_PLACE,
    REDUCE,
    REDUCE_LAST,
    SCATTER,
    SCATTER_UNEVEN,
    SCAN,
    OPS
};

/* Of MPI_Reduce_scatter: odd ranks have one more. */
static int uneven(int count, int of_rank)
{
    return count + (of_rank & 1);
}

static int place_of(enum op op, int count)
{
    return op == SCATTER          ? rank * count
           : op == SCATTER_UNEVEN ? rank * count + rank / 2
                                  : 0;
}

/* Returns how many numbers this rank then has. */
static int call(enum op op, int count)
{
    int root = op == REDUCE_LAST ? size - 1 : 0, counts[RANKS_MOST];

    switch (op) {
    case ALLREDUCE:
        MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        return count;
    case IN_PLACE:
        memcpy(out, in, (size_t) count * sizeof(*out));
        MPI_Allreduce(MPI_IN_PLACE, out, count, MPI_DOUBLE, MPI_SUM,
                      MPI_COMM_WORLD);
        return count;
    case REDUCE:
    case REDUCE_LAST:
        MPI_Reduce(in, out, count, op == REDUCE ? MPI_DOUBLE : MPI_REAL8,
                   MPI_SUM, root, MPI_COMM_WORLD);
        return rank == root ? count : 0;
    case SCATTER:
        MPI_Reduce_scatter_block(in, out, count, MPI_DOUBLE, MPI_SUM,
                                 MPI_COMM_WORLD);
        return count;
    case SCATTER_UNEVEN:
        for (int r = 0; r < size; r++)
            counts[r] = uneven(count, r);
        MPI_Reduce_scatter(in, out, counts, MPI_DOUBLE, MPI_SUM,
                           MPI_COMM_WORLD);
        return counts[rank];
    default:
        MPI_Scan(in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        return count;
    }
}

static void make_wanted(enum op op, int count, int salt)
{
    int first_place = place_of(op, count);

    for (int i = 0; i <= count; i++)
        wanted[i] = op == SCAN ? from_left(rank, i, salt)
                               : from_right(size - 1, first_place + i, salt);
}

static void repeat(enum op op, int count, int calls)
{
    int salt = (int) op * 10 + count, got = 0;

    for (int i = 0; i < (count + 1) * size; i++)
        in[i] = value(rank, i, salt);
    make_wanted(op, count, salt);
    for (int c = 0; c < calls; c++) {
        got = call(op, count);
        if (c == 0)
            memcpy(first, out, (size_t) got * sizeof(*out));
        changed += memcmp(first, out, (size_t) got * sizeof(*out)) != 0;
    }
    other += memcmp(first, wanted, (size_t) got * sizeof(*out)) != 0;
    for (int i = 0; i < got; i++) {
        uint64_t word;

        memcpy(&word, &first[i], sizeof(word));
        bits = (bits ^ word) * UINT64_C(0x100000001b3);
    }
}

int main(int argc, char **argv)
{
    static const int counts[SIZES] = {1, 40, COUNT};
    long own[2], all[2];
    uint64_t hash;

    if (argc < 2 || argc > 3)
        return 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    in = malloc((size_t) size * (COUNT + 1) * sizeof(*in));
    out = malloc((COUNT + 1) * sizeof(*out));
    first = malloc((COUNT + 1) * sizeof(*first));
    wanted = malloc((COUNT + 1) * sizeof(*wanted));
    if (!in || !out || !first || !wanted || size > RANKS_MOST)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int s = 0; s < SIZES && s < (argc > 2 ? atoi(argv[2]) : SIZES); s++)
        for (int op = 0; op < OPS; op++)
            repeat((enum op) op, counts[s], atoi(argv[1]));
    own[0] = changed;
    own[1] = other;
    MPI_Reduce(own, all, 2, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&bits, &hash, 1, MPI_UINT64_T, MPI_BXOR, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("changed %ld other %ld bits %016" PRIx64 "\n", all[0], all[1],
               hash);
    MPI_Finalize();
    return 0;
}
