/* SPDX-License-Identifier: BSD-3-Clause */
/* Two ranks: one kind of phase, long enough that redirection is switched off
 * for it, then a new window for another one, in which rank 1 computes (sleeps)
 * and rank 0 puts to it. Prints how many Puts the end of that took.
 * usage: anew */
#include "tests/rma/rma.h"

#include <time.h>

enum { PAIRS = 8, SLEEP_NS = 300000000, PAUSE_NS = 200000 };
static const double TALK_S = 2.5, COMPUTE_S = 4, LATE_S = 2;

static MPI_Datatype strided; /* so that nothing is copied by the origin */

static MPI_Win open_window(void)
{
    MPI_Win win;
    long *base;

    MPI_Win_allocate(2 * PAIRS * (MPI_Aint) sizeof(long), sizeof(long),
                     MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_lock_all(0, win);
    return win;
}

static void put(MPI_Win win, int target)
{
    static const long from[PAIRS];

    MPI_Put(from, PAIRS, MPI_LONG, target, 0, 1, strided, win);
    MPI_Win_flush(target, win);
}

/* Both put to each other, until rank 0 has done so for long enough. */
static void talk(MPI_Win win)
{
    static const struct timespec pause = {0, PAUSE_NS};
    double until = MPI_Wtime() + TALK_S;
    int on = 1;

    while (on) {
        for (int i = 0; i < 100; i++)
            put(win, 1 - rma_rank);
        nanosleep(&pause, NULL);
        on = MPI_Wtime() < until;
        MPI_Bcast(&on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
}

static int puts_late(MPI_Win win)
{
    double until = MPI_Wtime() + COMPUTE_S;
    int late = 0;

    while (MPI_Wtime() < until) {
        put(win, 1);
        late += MPI_Wtime() > until - LATE_S;
    }
    MPI_Send(&late, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    return late;
}

static void compute(void)
{
    static const struct timespec sleep = {0, SLEEP_NS};
    int over = 0;

    while (!over) {
        nanosleep(&sleep, NULL);
        MPI_Iprobe(0, 0, MPI_COMM_WORLD, &over, MPI_STATUS_IGNORE);
    }
    MPI_Recv(&over, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    MPI_Win talks, computes;

    rma_begin(&argc, &argv);
    MPI_Type_vector(PAIRS, 1, 2, MPI_LONG, &strided);
    MPI_Type_commit(&strided);
    talks = open_window();
    talk(talks);
    computes = open_window();
    if (rma_rank == 0)
        printf("late %d\n", puts_late(computes));
    else
        compute();
    MPI_Win_unlock_all(computes);
    MPI_Win_unlock_all(talks);
    MPI_Win_free(&computes);
    MPI_Win_free(&talks);
    MPI_Type_free(&strided);
    return rma_end("anew");
}
