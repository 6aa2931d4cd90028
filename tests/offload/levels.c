/* SPDX-License-Identifier: BSD-3-Clause */
/* Every second rank asks for MPI_THREAD_MULTIPLE, the others for less; their
 * collective calls must match all the same. */
#include "tests/expect.h"

#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int main(int argc, char **argv)
{
    const char *place = getenv("PMI_RANK");
    int multiple = place && atoi(place) % 2;
    int size, provided, all = 0;
    MPI_Comm comm;

    MPI_Init_thread(&argc, &argv,
                    multiple ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED,
                    &provided);
    EXPECT(provided == (multiple ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED));
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < 100; i++) {
        int one = 1, sum = 0, root = i % size, from[64] = {0};

        if (i % 10 == 0)
            pause_ms(rank);
        MPI_Barrier(comm);
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
        EXPECT(sum == size);
        sum = rank == root ? i : -1;
        MPI_Bcast(&sum, 1, MPI_INT, root, comm);
        EXPECT(sum == i);
        MPI_Gather(&rank, 1, MPI_INT, from, 1, MPI_INT, root, comm);
        EXPECT(rank != root || from[size - 1] == size - 1);
    }
    MPI_Comm_free(&comm);
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        puts(all ? "levels: wrong" : "levels: ok");
    MPI_Finalize();
    return 0;
}
