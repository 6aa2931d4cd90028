/* SPDX-License-Identifier: BSD-3-Clause */
/* usage: coll_bits CALLS [SEED]
 *
 * Allreduce and Iallreduce of floating-point numbers of such magnitudes that
 * another association gives other bits: all ranks must get the same ones. Types
 * and operations of MPI and of the program, in place or not, on all ranks, on
 * all but the last, and on all in the reverse order. Prints
 *
 *   bits: 400 calls, 0 differ */
#include "../random/prng.h"

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MATRIX = 4, NUMBERS = 8000, COMMS = 3 };

/* What is reduced, as doubles; floats are half of one. */
struct kind {
    const char *name;
    MPI_Datatype type;
    MPI_Op op;
    size_t bytes;
};

static double in[NUMBERS], out[NUMBERS];
static MPI_Comm comms[COMMS];
static int world_rank;

/* 2 x 2 matrices: the order of operands matters. */
static void multiply(void *left, void *right, int *n, MPI_Datatype *type)
{
    const double *a = left;
    double *b = right;

    (void) type;
    for (int i = 0; i < *n; i++, a += MATRIX, b += MATRIX) {
        double c[MATRIX] = {
            a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3],
            a[2] * b[0] + a[3] * b[2], a[2] * b[1] + a[3] * b[3]};

        memcpy(b, c, sizeof(c));
    }
}

static void add(void *left, void *right, int *n, MPI_Datatype *type)
{
    const double *a = left;
    double *b = right;

    (void) type;
    for (int i = 0; i < *n; i++)
        b[i] += a[i];
}

/* Numbers of 2^-20 to 2^20, of both signs; near 1 in matrices. */
static double value(struct prng *random, int near)
{
    double x = 1 + (double) (prng_next(random) % 1000000007u) / 1000000007.0;
    int shift = near ? 0 : prng_range(random, -20, 20);

    if (prng_chance(random, 50))
        x = -x;
    return shift < 0 ? x / (double) (1 << -shift) : x * (double) (1 << shift);
}

static void fill(const struct kind *kind, int n, uint64_t number)
{
    struct prng random = {number * 1000003u + (uint64_t) world_rank};
    size_t numbers = (size_t) n * kind->bytes / sizeof(double);

    if (kind->type == MPI_FLOAT)
        for (int i = 0; i < n; i++)
            ((float *) in)[i] = (float) value(&random, 0);
    for (size_t i = 0; i < numbers && kind->type != MPI_FLOAT; i++)
        in[i] = value(&random, strcmp(kind->name, "matrix") == 0);
}

static void reduce(const struct kind *kind, int n, int in_place, int begun,
                   MPI_Comm comm)
{
    const void *from = in_place ? MPI_IN_PLACE : in;
    MPI_Request request;

    if (in_place)
        memcpy(out, in, sizeof(in));
    if (!begun) {
        MPI_Allreduce(from, out, n, kind->type, kind->op, comm);
        return;
    }
    MPI_Iallreduce(from, out, n, kind->type, kind->op, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Does some rank of comm have other bytes than its rank 0? Told to rank 0. */
static int differs(size_t bytes, MPI_Comm comm)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325), other;
    const unsigned char *byte = (const unsigned char *) out;
    int rank, size, any = 0;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3);
    if (rank > 0)
        MPI_Send(&hash, 1, MPI_UINT64_T, 0, 7, comm);
    for (int r = 1; r < size && rank == 0; r++) {
        MPI_Recv(&other, 1, MPI_UINT64_T, r, 7, comm, MPI_STATUS_IGNORE);
        any |= other != hash;
    }
    return any;
}

static void make_comms(void)
{
    int size;

    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
    MPI_Comm_split(MPI_COMM_WORLD,
                   size > 1 && world_rank == size - 1 ? MPI_UNDEFINED : 0,
                   world_rank, &comms[1]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &comms[2]);
}

int main(int argc, char **argv)
{
    static const int counts[] = {1, 3, 64, 1000, 2000};
    struct kind kinds[] = {
        {"sum", MPI_DOUBLE, MPI_SUM, sizeof(double)},
        {"sum", MPI_FLOAT, MPI_SUM, sizeof(float)},
        {"sum", MPI_C_DOUBLE_COMPLEX, MPI_SUM, 2 * sizeof(double)},
        {"sum", MPI_DOUBLE, MPI_OP_NULL, sizeof(double)},
        {"matrix", MPI_DATATYPE_NULL, MPI_OP_NULL, MATRIX * sizeof(double)},
    };
    int calls = argc > 1 ? atoi(argv[1]) : 100, differing = 0, all = 0;
    struct prng random = {argc > 2 ? strtoull(argv[2], NULL, 10) : 1};

    MPI_Init(&argc, &argv);
    MPI_Op_create(add, 1, &kinds[3].op);
    MPI_Op_create(multiply, 0, &kinds[4].op);
    MPI_Type_contiguous(MATRIX, MPI_DOUBLE, &kinds[4].type);
    MPI_Type_commit(&kinds[4].type);
    make_comms();
    for (int i = 0; i < calls; i++) {
        const struct kind *kind = &kinds[prng_below(&random, 5)];
        int n = counts[prng_below(&random, 5)], c = prng_below(&random, COMMS);
        int in_place = prng_chance(&random, 50);
        int begun = prng_chance(&random, 20);

        if (comms[c] == MPI_COMM_NULL)
            continue;
        fill(kind, n, (uint64_t) i + 1);
        reduce(kind, n, in_place, begun, comms[c]);
        if (!differs((size_t) n * kind->bytes, comms[c]))
            continue;
        if (differing++ == 0)
            printf("call %d, %s, %zu bytes each, %d of them%s%s: differ\n", i,
                   kind->name, kind->bytes, n, in_place ? ", in place" : "",
                   begun ? ", non-blocking" : "");
    }
    MPI_Reduce(&differing, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (world_rank == 0)
        printf("bits: %d calls, %d differ\n", calls, all);
    for (int c = 0; c < COMMS; c++)
        if (comms[c] != MPI_COMM_NULL)
            MPI_Comm_free(&comms[c]);
    MPI_Type_free(&kinds[4].type);
    MPI_Op_free(&kinds[3].op);
    MPI_Op_free(&kinds[4].op);
    MPI_Finalize();
    return 0;
}
