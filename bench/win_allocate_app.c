/* SPDX-License-Identifier: BSD-3-Clause */
/* Median time of MPI_Win_allocate and of MPI_Win_free, slowest rank, in us.
 * usage: win_allocate_app BYTES LOOPS */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;

    return (x > y) - (x < y);
}

static double median_of_slowest(double *times, int n, int rank)
{
    double *slowest = malloc((size_t) n * sizeof(*slowest)), median;

    MPI_Reduce(times, slowest, n, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        qsort(slowest, (size_t) n, sizeof(*slowest), compare);
    median = rank == 0 ? slowest[n / 2] : 0;
    free(slowest);
    return median;
}

int main(int argc, char **argv)
{
    double *made, *freed, make_us, free_us;
    long bytes = argc > 1 ? atol(argv[1]) : 1 << 20;
    int loops = argc > 2 ? atoi(argv[2]) : 100, rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    made = malloc((size_t) loops * sizeof(*made));
    freed = malloc((size_t) loops * sizeof(*freed));
    for (int i = -2; i < loops; i++) { /* two to warm up */
        double t0, t1, t2, t3;
        MPI_Win win;
        void *base;

        MPI_Barrier(MPI_COMM_WORLD);
        t0 = MPI_Wtime();
        MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
        t1 = MPI_Wtime();
        MPI_Barrier(MPI_COMM_WORLD);
        t2 = MPI_Wtime();
        MPI_Win_free(&win);
        t3 = MPI_Wtime();
        if (i >= 0) {
            made[i] = (t1 - t0) * 1e6;
            freed[i] = (t3 - t2) * 1e6;
        }
    }
    make_us = median_of_slowest(made, loops, rank);
    free_us = median_of_slowest(freed, loops, rank);
    if (rank == 0)
        printf("allocate %.1f free %.1f\n", make_us, free_us);
    free(made);
    free(freed);
    MPI_Finalize();
    return 0;
}
