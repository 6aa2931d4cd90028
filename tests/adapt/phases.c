/* SPDX-License-Identifier: BSD-3-Clause */
/* Phases in which all ranks are inside MPI nearly all the time, and phases in
 * which they are outside, in turn; a fence again and again in both. Rank 0
 * prints when they began and ended, in seconds since MPI_Init returned, so that
 * somebody can compare with what was predicted.
 * usage: phases [milliseconds [phases [a rank that never computes]]] */
#include "tests/rma/rma.h"

#include <time.h>

enum { WORDS = 16 };

static double begin;
static long *base, added;
static MPI_Win win;

static void outside(double ms)
{
    const struct timespec time = {0, (long) (ms * 1e6)};

    nanosleep(&time, NULL);
}

/* Rank 0 decides when a phase is over, for all. */
static int goes_on(double until)
{
    int on = MPI_Wtime() - begin < until;

    MPI_Bcast(&on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return on;
}

static void update(void)
{
    static const long one = 1;

    for (int t = 0; t < rma_size; t++)
        MPI_Accumulate(&one, 1, MPI_LONG, t, 0, 1, MPI_LONG, MPI_SUM, win);
    added += rma_size;
    MPI_Win_fence(0, win);
}

int main(int argc, char **argv)
{
    double ms, from, to;
    int phases, busy;

    rma_begin(&argc, &argv);
    ms = argc > 1 ? atof(argv[1]) : 200;
    phases = argc > 2 ? atoi(argv[2]) : 4;
    busy = argc > 3 ? atoi(argv[3]) : -1;
    begin = MPI_Wtime();
    MPI_Win_allocate(WORDS * (MPI_Aint) sizeof(long), sizeof(long),
                     MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    base[0] = 0;
    MPI_Win_fence(0, win);
    for (int p = 0; p < phases; p++) {
        from = MPI_Wtime() - begin;
        while (goes_on(from + ms / 1000)) {
            if (p % 2 == 0 && rma_rank != busy)
                outside(8);
            update();
        }
        to = MPI_Wtime() - begin;
        if (rma_rank == 0)
            printf("phase %s %.6f %.6f\n", p % 2 ? "inside" : "outside", from,
                   to);
    }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    EXPECT(base[0] == added, "%ld of %ld", base[0], added);
    MPI_Win_free(&win);
    return rma_end("phases");
}
