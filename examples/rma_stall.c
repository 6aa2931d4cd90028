/* SPDX-License-Identifier: BSD-3-Clause */
/* One rank updates the memory of another that is busy with something else.
 *
 * The last rank offers a window and then computes for a while without calling
 * MPI (it sleeps here, so that the example needs no CPU). Meanwhile rank 0 adds
 * to a counter in that window, a hundred times, each time waiting until the
 * update has arrived. Plain MPI carries the updates out when the target calls
 * MPI again; a ghost process carries them out at once.
 *
 *   mpicc rma_stall.c -o rma_stall
 *   srun -N2 -n4 ./rma_stall
 *   srun -N2 -n4 --async-progress=ghost:1 ./rma_stall
 *
 * Where rank 0 needs its updates before it can go on, it then computes as well:
 * a third argument says for how long. Without ghosts one computes after the
 * other, with ghosts both do at once.
 *
 * usage: rma_stall [MILLISECONDS [UPDATES [MILLISECONDS]]] */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Without that plain MPI is sometimes quick enough to update the target before
 * it has left the barrier. */
enum { HEAD_START_MS = 20 };

static void compute(long ms)
{
    const struct timespec length = {ms / 1000, ms % 1000 * 1000000};

    nanosleep(&length, NULL);
}

/* Add 1 to the target's counter and wait until it is there. */
static void update(int target, MPI_Win win)
{
    const long one = 1;

    MPI_Accumulate(&one, 1, MPI_LONG, target, 0, 1, MPI_LONG, MPI_SUM, win);
    MPI_Win_flush(target, win);
}

int main(int argc, char **argv)
{
    long busy_ms = argc > 1 ? atol(argv[1]) : 500;
    int updates = argc > 2 ? atoi(argv[2]) : 100;
    long then_ms = argc > 3 ? atol(argv[3]) : 0;
    int rank, size, target;
    long *counter;
    double begin, ms;
    MPI_Win win;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    target = size - 1;
    /* One counter is used; MPICH 4.0.2 wants sizes that 16 divides. */
    MPI_Win_allocate(8 * sizeof(*counter), sizeof(*counter), MPI_INFO_NULL,
                     MPI_COMM_WORLD, &counter, &win);
    *counter = 0;
    MPI_Win_lock_all(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        update(target, win); /* the first one also opens the connection */
    MPI_Barrier(MPI_COMM_WORLD);

    if (rank == 0 && rank != target)
        compute(HEAD_START_MS);
    begin = MPI_Wtime();
    if (rank == target)
        compute(busy_ms);
    for (int i = 0; rank == 0 && i < updates; i++)
        update(target, win);
    ms = (MPI_Wtime() - begin) * 1e3;
    if (rank == 0)
        compute(then_ms);

    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("updates took: %.3f ms (%d of them, to rank %d, which was busy "
               "for %ld ms)\n",
               ms, updates, target, busy_ms);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    if (rank == target && *counter != updates + 1)
        printf("WRONG: the counter is %ld, not %d\n", *counter, updates + 1);
    MPI_Win_unlock(rank, win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
