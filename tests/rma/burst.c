/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 0 asks for more answers than UCX keeps for it, then computes for so many
 * seconds: meanwhile whoever answers has some left that it cannot send. */
#include "rma.h"

#include <time.h>

enum { ANSWERS = 3000 };

static long results[ANSWERS];
static MPI_Request requests[ANSWERS];

static void compute(double seconds)
{
    double end = MPI_Wtime() + seconds;

    while (MPI_Wtime() < end)
        ;
}

int main(int argc, char **argv)
{
    static const long one = 1;
    double seconds = argc > 1 ? atof(argv[1]) : 3;
    const struct timespec rest = {.tv_sec = (time_t) seconds};
    MPI_Win win;
    long *base;

    rma_begin(&argc, &argv);
    MPI_Win_allocate(sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD,
                     &base, &win);
    *base = 0;
    MPI_Win_lock_all(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; rma_rank == 0 && i < ANSWERS; i++)
        MPI_Rget_accumulate(&one, 1, MPI_LONG, &results[i], 1, MPI_LONG,
                            rma_size - 1, 0, 1, MPI_LONG, MPI_SUM, win,
                            &requests[i]);
    if (rma_rank == 0) {
        compute(seconds);
        for (int i = 0; i < ANSWERS; i++)
            MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        MPI_Win_flush_all(win);
    } else {
        nanosleep(&rest, NULL);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_unlock_all(win);
    if (rma_rank == rma_size - 1)
        EXPECT(*base == ANSWERS, "%ld, not %d", *base, ANSWERS);
    MPI_Win_free(&win);
    return rma_end("burst");
}
