/* SPDX-License-Identifier: BSD-3-Clause */
/* A handler of exit() that was set before MPI_Init uses MPI and ends it.
 * usage: late LEVEL (of MPI_Init_thread) */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int posted, sum;
static MPI_Request request;

static void finish(void)
{
    int one = 1, over;

    MPI_Send(&one, 1, MPI_INT, 0, 1, MPI_COMM_SELF);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    MPI_Finalized(&over);
    printf("%d of %d, %d\n", posted, sum, over);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    int provided;

    atexit(finish);
    MPI_Init_thread(&argc, &argv, atoi(argv[1]), &provided);
    MPI_Irecv(&posted, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request);
    exit(0);
}
