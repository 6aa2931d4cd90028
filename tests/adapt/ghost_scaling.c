/* SPDX-License-Identifier: BSD-3-Clause */
/* Phases in which ghosts have nothing to do but a call now and then, and phases
 * in which they have as much as they can, in turn; a fence again and again in
 * both. Rank 0 prints when they began and ended, in seconds since MPI_Init
 * returned.
 * usage: ghost_scaling [milliseconds of a quiet phase [of a heavy one
 * [phases]]] */
#include "tests/rma/rma.h"

#include <time.h>

/* What a heavy turn sends to each target: enough that ghosts are at work far
 * longer than it takes to reach them. */
enum { NUMBERS = 16384, COLUMNS = 4096, ROUNDS = 4 };

static double begin;
static long *sums, *marks; /* the two halves of the window */
static long *ones, *mine, turns;
static MPI_Datatype gaps;
static MPI_Win win;

/* Rank 0 decides when a phase is over, for all. */
static int goes_on(double until)
{
    int on = MPI_Wtime() - begin < until;

    MPI_Bcast(&on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return on;
}

/* Everybody adds to what everybody has; and marks its own columns there, with
 * gaps between them so that ghosts have to do it on the same node, too. */
static void work(int n, int columns)
{
    MPI_Aint own = NUMBERS + rma_rank;

    turns++;
    for (int i = 0; i < COLUMNS; i++)
        mine[i] = turns * rma_size + rma_rank;
    for (int t = 0; t < rma_size; t++) {
        MPI_Accumulate(ones, n, MPI_LONG, t, 0, n, MPI_LONG, MPI_SUM, win);
        if (columns)
            MPI_Put(mine, COLUMNS, MPI_LONG, t, own, 1, gaps, win);
    }
    MPI_Win_fence(0, win);
}

int main(int argc, char **argv)
{
    double quiet, heavy, from, to;
    long all = 0, marked = 0;
    MPI_Aint bytes;
    int phases;

    rma_begin(&argc, &argv);
    quiet = argc > 1 ? atof(argv[1]) : 400;
    heavy = argc > 2 ? atof(argv[2]) : 400;
    phases = argc > 3 ? atoi(argv[3]) : 3;
    begin = MPI_Wtime();
    MPI_Type_vector(COLUMNS, 1, rma_size, MPI_LONG, &gaps);
    MPI_Type_commit(&gaps);
    bytes = (NUMBERS + (MPI_Aint) COLUMNS * rma_size) * (MPI_Aint) sizeof(long);
    MPI_Win_allocate(bytes, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &sums,
                     &win);
    ones = malloc(NUMBERS * sizeof(*ones));
    mine = malloc(COLUMNS * sizeof(*mine));
    marks = sums + NUMBERS;
    for (int i = 0; i < NUMBERS; i++)
        sums[i] = 0, ones[i] = 1;
    MPI_Win_fence(0, win);
    for (int p = 0; p < phases; p++) {
        from = MPI_Wtime() - begin;
        while (goes_on(from + (p % 2 ? heavy : quiet) / 1000)) {
            const struct timespec rest = {0, 20000000};

            if (p % 2 == 0)
                nanosleep(&rest, NULL);
            all += p % 2 ? ROUNDS : 0;
            for (int i = 0; p % 2 && i < ROUNDS; i++) {
                marked = turns + 1;
                work(NUMBERS, 1);
            }
            if (p % 2 == 0)
                work(1, 0);
        }
        to = MPI_Wtime() - begin;
        if (rma_rank == 0)
            printf("phase %s %.6f %.6f\n", p % 2 ? "heavy" : "quiet", from, to);
    }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    EXPECT(sums[0] == turns * rma_size, "%ld of %ld", sums[0],
           turns * rma_size);
    for (int i = 1; i < NUMBERS; i++)
        EXPECT(sums[i] == all * rma_size, "number %d: %ld of %ld", i, sums[i],
               all * rma_size);
    for (int i = 0; marked && i < COLUMNS * rma_size; i++)
        EXPECT(marks[i] == marked * rma_size + i % rma_size,
               "mark %d: %ld of %ld", i, marks[i],
               marked * rma_size + i % rma_size);
    MPI_Win_free(&win);
    MPI_Type_free(&gaps);
    free(ones);
    free(mine);
    return rma_end("ghost_scaling");
}
