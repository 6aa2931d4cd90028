/* SPDX-License-Identifier: BSD-3-Clause */
/* Users of a ghost that is about to be lost, in the way the argument names;
 * t5040 looks at what becomes of them. Rank 0 prints "ready" when it may
 * happen. Ends by itself after a while.
 *
 *   idle [SECONDS | FILE]  all compute, nobody is in MPI; until FILE exists
 *   lock   rank 0 holds an exclusive lock and computes, the others wait for it
 *   flood  all add to the memory of rank 0 without end
 *   finish SECONDS  MPI_Finalize calls a function of rank 0 that takes so long
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LIMIT_S = 50, BURST = 100, LOOK_US = 50000 };

static void queue_up(int rank, MPI_Win win)
{
    if (rank == 0)
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        printf("ready\n");
        fflush(stdout);
        sleep(LIMIT_S);
    } else {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    }
    MPI_Win_unlock(0, win);
}

static void flood(int rank, MPI_Win win)
{
    const double one = 1, end = MPI_Wtime() + LIMIT_S;

    MPI_Win_lock_all(0, win);
    for (long i = 0; MPI_Wtime() < end; i++) {
        for (int k = 0; k < BURST; k++)
            MPI_Accumulate(&one, 1, MPI_DOUBLE, 0, rank, 1, MPI_DOUBLE, MPI_SUM,
                           win);
        MPI_Win_flush(0, win);
        if (rank == 0 && i == 10) {
            printf("ready\n");
            fflush(stdout);
        }
    }
    MPI_Win_unlock_all(win);
}

/* For so many seconds, or until there is a file of that name; or to the end. */
static void compute(const char *until)
{
    char *end;
    unsigned long limit_s = strtoul(until, &end, 10);
    bool seconds = *until && !*end;

    if (seconds) {
        sleep((unsigned) limit_s);
        return;
    }
    for (long us = 0; us < LIMIT_S * 1000000L; us += LOOK_US) {
        if (access(until, F_OK) == 0)
            return;
        usleep(LOOK_US);
    }
}

static int take_long(MPI_Comm comm, int keyval, void *seconds, void *extra)
{
    (void) comm;
    (void) keyval;
    (void) extra;
    sleep((unsigned) atoi(seconds));
    return MPI_SUCCESS;
}

static void finish_late(int rank, char *seconds)
{
    int keyval;

    if (rank != 0)
        return;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, take_long, &keyval, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, seconds);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "idle";
    double *base;
    MPI_Win win;
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_allocate((MPI_Aint) size * 16, sizeof(*base), MPI_INFO_NULL,
                     MPI_COMM_WORLD, &base, &win);
    memset(base, 0, (size_t) size * 16);
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(mode, "lock") == 0) {
        queue_up(rank, win);
    } else if (strcmp(mode, "flood") == 0) {
        flood(rank, win);
    } else if (strcmp(mode, "finish") == 0 && argc > 2) {
        finish_late(rank, argv[2]);
    } else {
        if (rank == 0) {
            printf("ready\n");
            fflush(stdout);
        }
        compute(argc > 2 ? argv[2] : "");
    }
    MPI_Win_free(&win);
    MPI_Finalize();
    if (rank == 0)
        printf("done\n");
    return 0;
}
