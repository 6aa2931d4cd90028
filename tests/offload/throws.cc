// SPDX-License-Identifier: BSD-3-Clause
// Error handlers throw: out of a blocking call, and out of a wait.
// usage: throws LEVEL
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

static void handle(MPI_Comm *, int *, ...)
{
    throw std::runtime_error("told");
}

int main(int, char **argv)
{
    int given, rank, caught = 0, one = 1, sum = 0, x = 0;
    MPI_Errhandler handler;
    MPI_Comm comm;

    MPI_Init_thread(nullptr, nullptr, std::atoi(argv[1]), &given);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_create_errhandler(handle, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    for (int i = 0; i < 5; i++) {
        try {
            MPI_Request request;

            if (i % 2)
                MPI_Send(&x, 1, MPI_INT, 9, 0, comm);
            MPI_Isend(&x, 1, MPI_INT, 9, 0, comm, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        } catch (const std::runtime_error &) {
            caught++;
        }
    }
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        std::printf("%d caught, %d together\n", caught, sum);
    return MPI_Finalize();
}
