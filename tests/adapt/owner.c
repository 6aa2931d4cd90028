/* SPDX-License-Identifier: BSD-3-Clause */
/* A little for ghosts to do, so that all but one are parked, and none of it
 * Puts or Gets: accumulates keep their owner until the next legal point. Rank 0
 * prints when the window was made and when that point was, in seconds since
 * MPI_Init returned, and how many accumulates there were for each target before
 * it and after.
 * usage: owner [turns before [turns after]], of 20 ms */
#include "tests/rma/rma.h"

#include <time.h>

static MPI_Win win;

/* One for everybody from everybody, in each turn. */
static void turns(int n)
{
    const struct timespec rest = {0, 20000000};
    long one = 1;

    for (int i = 0; i < n; i++) {
        nanosleep(&rest, NULL);
        for (int t = 0; t < rma_size; t++)
            MPI_Accumulate(&one, 1, MPI_LONG, t, 0, 1, MPI_LONG, MPI_SUM, win);
        MPI_Win_flush_all(win);
    }
}

int main(int argc, char **argv)
{
    int before, after;
    double begin, made;
    long *sum;

    rma_begin(&argc, &argv);
    before = argc > 1 ? atoi(argv[1]) : 50;
    after = argc > 2 ? atoi(argv[2]) : 20;
    begin = MPI_Wtime();
    MPI_Win_allocate(sizeof(*sum), sizeof(*sum), MPI_INFO_NULL, MPI_COMM_WORLD,
                     &sum, &win);
    made = MPI_Wtime() - begin;
    *sum = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    turns(before);
    MPI_Win_unlock_all(win);
    MPI_Win_fence(0, win);
    if (rma_rank == 0)
        printf("made %.6f point %.6f before %d after %d\n", made,
               MPI_Wtime() - begin, before * rma_size, after * rma_size);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Win_lock_all(0, win);
    turns(after);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT(*sum == (long) (before + after) * rma_size, "%ld of %ld", *sum,
           (long) (before + after) * rma_size);
    MPI_Win_free(&win);
    return rma_end("owner");
}
