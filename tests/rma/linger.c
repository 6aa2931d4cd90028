/* SPDX-License-Identifier: BSD-3-Clause */
/* A process issues an accumulate that takes several messages, and computes
 * (sleeps) before it flushes. Others whose accumulates go to the same ghost, to
 * other targets even, must not wait for it.
 * usage: linger (three processes or more) */
#include "rma.h"

#include <time.h>

enum { COUNT = 1 << 21, BLOCKS = 100000 };
static const double AWAY_S = 1;

static double *buffer, *result;
static MPI_Datatype scattered;
static MPI_Win win;

static void large(void)
{
    MPI_Accumulate(buffer, COUNT, MPI_DOUBLE, 1, 0, COUNT, MPI_DOUBLE, MPI_SUM,
                   win);
}

static void large_get(void)
{
    MPI_Get_accumulate(buffer, COUNT, MPI_DOUBLE, result, COUNT, MPI_DOUBLE, 1,
                       0, COUNT, MPI_DOUBLE, MPI_SUM, win);
}

static void derived(void)
{
    MPI_Accumulate(buffer, BLOCKS, MPI_DOUBLE, 1, 0, 1, scattered, MPI_SUM,
                   win);
}

static void make_scattered(void)
{
    static int places[BLOCKS];

    for (int i = 0; i < BLOCKS; i++)
        places[i] = 3 * i + i % 2;
    MPI_Type_create_indexed_block(BLOCKS, 1, places, MPI_DOUBLE, &scattered);
    MPI_Type_commit(&scattered);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*issue)(void);
    } cases[] = {
        {"large", large}, {"large_get", large_get}, {"derived", derived}};
    const struct timespec away = {(time_t) AWAY_S, 0},
                          later = {0, (long) (0.2e9 * AWAY_S)};
    double *base;

    rma_begin(&argc, &argv);
    buffer = calloc(COUNT, sizeof(*buffer));
    result = calloc(COUNT, sizeof(*result));
    make_scattered();
    MPI_Win_allocate(COUNT * (MPI_Aint) sizeof(double), sizeof(double),
                     MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_lock_all(0, win);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rma_rank == 0) {
            cases[i].issue();
            nanosleep(&away, NULL);
        } else if (rma_rank == 2) {
            const double one = 1;
            double begin, took, old;

            nanosleep(&later, NULL);
            begin = MPI_Wtime();
            MPI_Fetch_and_op(&one, &old, MPI_DOUBLE, 2, 0, MPI_SUM, win);
            MPI_Win_flush(2, win);
            took = MPI_Wtime() - begin;
            EXPECT(took < AWAY_S / 2, "%s: %g s", cases[i].name, took);
        }
        MPI_Win_flush_all(win);
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Type_free(&scattered);
    free(buffer);
    free(result);
    return rma_end("linger");
}
