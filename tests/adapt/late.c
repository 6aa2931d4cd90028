/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that is inside MPI for a while, as programs are that start, and
 * then makes a window without fences: the others sleep while rank 0 accumulates
 * to them. usage: late [milliseconds] */
#include "tests/rma/rma.h"

#include <time.h>

enum { TIMES = 5 };

int main(int argc, char **argv)
{
    static const struct timespec away = {0, 100000000};
    const long one = 1;
    double until;
    MPI_Win win;
    long *base;
    int on = 1;

    rma_begin(&argc, &argv);
    until = MPI_Wtime() + (argc > 1 ? atof(argv[1]) : 200) / 1e3;
    while (on) {
        on = MPI_Wtime() < until;
        MPI_Bcast(&on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    MPI_Win_allocate(sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD,
                     &base, &win);
    *base = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    if (rma_rank > 0)
        nanosleep(&away, NULL);
    for (int i = 0; rma_rank == 0 && i < TIMES; i++)
        for (int t = 1; t < rma_size; t++) {
            MPI_Accumulate(&one, 1, MPI_LONG, t, 0, 1, MPI_LONG, MPI_SUM, win);
            MPI_Win_flush(t, win);
        }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT(*base == (rma_rank ? TIMES : 0), "%ld", *base);
    MPI_Win_free(&win);
    return rma_end("late");
}
