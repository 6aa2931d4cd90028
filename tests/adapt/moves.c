/* SPDX-License-Identifier: BSD-3-Clause */
/* Phases in and out of MPI, as in phases.c, of a program that has no legal
 * point but making its window: Put and Get under one lock for all, strided so
 * that they are sent on the same node as well. In a phase outside, all sleep
 * without a call of MPI in the meantime. What is read must be what was written
 * last, and nothing may be lost where the direction changes under way. usage:
 * moves [milliseconds [phases]] */
#include "tests/rma/rma.h"

#include <time.h>

enum { PAIRS = 8 };

static double begin;
static long *base, round_now;
static MPI_Win win;
static MPI_Datatype strided;

static void outside(double ms)
{
    const struct timespec time = {(time_t) (ms / 1e3),
                                  (long) (ms * 1e6) % 1000000000};

    nanosleep(&time, NULL);
}

/* Every other long of our part at the target. */
static MPI_Aint own_part(void)
{
    return (MPI_Aint) rma_rank * 2 * PAIRS;
}

static void exchange(void)
{
    long out[PAIRS], in[PAIRS];

    round_now++;
    for (int i = 0; i < PAIRS; i++)
        out[i] = round_now * PAIRS + i;
    for (int t = 0; t < rma_size; t++) {
        memset(in, 0, sizeof(in));
        MPI_Put(out, PAIRS, MPI_LONG, t, own_part(), 1, strided, win);
        MPI_Win_flush(t, win);
        MPI_Get(in, PAIRS, MPI_LONG, t, own_part(), 1, strided, win);
        MPI_Win_flush(t, win);
        for (int i = 0; i < PAIRS; i++)
            EXPECT(in[i] == out[i], "round %ld, %d: %ld, not %ld", round_now, t,
                   in[i], out[i]);
    }
}

static void phase(int inside, double ms)
{
    double from, until;

    MPI_Barrier(MPI_COMM_WORLD);
    from = MPI_Wtime() - begin;
    until = from + ms / 1e3;
    if (!inside)
        outside(ms - 1);
    do
        exchange();
    while (MPI_Wtime() - begin < until);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rma_rank == 0)
        printf("phase %s %.6f %.6f\n", inside ? "inside" : "outside", from,
               MPI_Wtime() - begin);
}

int main(int argc, char **argv)
{
    double ms;
    int phases;

    rma_begin(&argc, &argv);
    ms = argc > 1 ? atof(argv[1]) : 200;
    phases = argc > 2 ? atoi(argv[2]) : 4;
    begin = MPI_Wtime();
    MPI_Type_vector(PAIRS, 1, 2, MPI_LONG, &strided);
    MPI_Type_commit(&strided);
    MPI_Win_allocate(rma_size * 2 * PAIRS * (MPI_Aint) sizeof(long),
                     sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_lock_all(0, win);
    for (int p = 0; p < phases; p++)
        phase(p % 2, ms);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int r = 0; r < rma_size; r++)
        EXPECT(base[r * 2 * PAIRS] > 0, "nothing came from %d", r);
    MPI_Type_free(&strided);
    MPI_Win_free(&win);
    return rma_end("moves");
}
