/* SPDX-License-Identifier: BSD-3-Clause */
/* Phases in which all ranks are inside MPI nearly all the time, and phases in
 * which they are outside, in turn; a fence again and again in both. Rank 0
 * prints when they began and ended, in seconds since MPI_Init returned, so that
 * somebody can compare with what was predicted.
 *
 * What a phase is must not depend on the machine: ranks that wait for a CPU
 * keep the others in MPI. So all stay outside for SHARE times as long as the
 * slowest was in MPI before, and a phase has so many updates at least.
 *
 * usage: phases [milliseconds [phases [a rank that never computes]]] */
#include "tests/rma/rma.h"

#include <time.h>

enum { WORDS = 16, OUTSIDE_MS = 8, SHARE = 4, UPDATES = 20 };

static double begin, entered; /* MPI, after the time outside */
static long *base, added;
static MPI_Win win;

static void outside(double s)
{
    const struct timespec time = {(time_t) s,
                                  (long) ((s - (double) (time_t) s) * 1e9)};

    nanosleep(&time, NULL);
    entered = MPI_Wtime();
}

/* Rank 0 decides when a phase is over, for all. How long are they to be
 * outside? 0: it is over. The rank that is never outside has no say in that. */
static double next_outside(double until, int updates, int busy)
{
    double in_mpi = rma_rank == busy ? 0 : MPI_Wtime() - entered;
    double mine[2] = {0, in_mpi}, all[2];

    if (rma_rank == 0)
        mine[0] = MPI_Wtime() - begin < until || updates < UPDATES;
    MPI_Allreduce(mine, all, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (all[0] == 0)
        return 0;
    in_mpi = all[1];
    if (rma_rank != busy && MPI_Wtime() - entered > in_mpi)
        in_mpi = MPI_Wtime() - entered;
    return SHARE * in_mpi > OUTSIDE_MS / 1e3 ? SHARE * in_mpi
                                             : OUTSIDE_MS / 1e3;
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
    double ms, from, to, pause;
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
        entered = MPI_Wtime();
        for (int i = 0; (pause = next_outside(from + ms / 1000, i, busy));
             i++) {
            if (p % 2 == 0 && rma_rank != busy)
                outside(pause);
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
