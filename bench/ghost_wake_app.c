/* SPDX-License-Identifier: BSD-3-Clause */
/* What an operation costs after a rest, when its ghost is blocked unless it
 * still spins, when the ghost is awake, and what a lock costs. The target never
 * calls MPI meanwhile. Two ranks; rank 0 prints medians in us.
 *
 * usage: ghost_wake_app [REST_MS]      (50) */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 30, BURST = 50 };

static double times[3][ROUNDS];
static long rest_ms = 50;

static void rest(long ms)
{
    const struct timespec length = {ms / 1000, ms % 1000 * 1000000};

    nanosleep(&length, NULL);
}

static void update(int target, MPI_Win win)
{
    const long one = 1;

    MPI_Accumulate(&one, 1, MPI_LONG, target, 0, 1, MPI_LONG, MPI_SUM, win);
    MPI_Win_flush(target, win);
}

static void measure(int target, MPI_Win win)
{
    for (int i = 0; i < ROUNDS; i++) {
        double t0, t1;

        MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
        rest(rest_ms);
        t0 = MPI_Wtime();
        update(target, win);
        t1 = MPI_Wtime();
        times[0][i] = (t1 - t0) * 1e6;
        for (int k = 0; k < BURST; k++)
            update(target, win);
        times[1][i] = (MPI_Wtime() - t1) * 1e6 / BURST;
        MPI_Win_unlock(target, win);
        t0 = MPI_Wtime();
        for (int k = 0; k < BURST; k++) {
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
            MPI_Win_unlock(target, win);
        }
        times[2][i] = (MPI_Wtime() - t0) * 1e6 / BURST;
    }
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;

    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    static const char *const names[] = {
        "update after a rest", "update, ghost awake", "lock and unlock"};
    int rank, size;
    MPI_Win win;
    void *base;

    MPI_Init(&argc, &argv);
    if (argc > 1)
        rest_ms = atol(argv[1]);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_allocate(1024, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        measure(size - 1, win);
    else
        rest(2 * ROUNDS * rest_ms);
    for (int i = 0; rank == 0 && i < 3; i++) {
        qsort(times[i], ROUNDS, sizeof(double), compare);
        printf("%-24s median %8.2f us, best %8.2f us\n", names[i],
               times[i][ROUNDS / 2], times[i][0]);
    }
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
