/* SPDX-License-Identifier: BSD-3-Clause */
/* Posts many non-blocking collectives at once; then all ranks but rank 2 wait
 * in MPI_Recv for a message that rank 2 sends when it has completed all of its
 * own. In MPI that ends, since what was posted goes on in any call.
 *
 * usage: coll_crowd bcast|allreduce OPERATIONS BYTES (3 ranks or more)
 * Prints "crowd: ok" when all data are right. */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FIRST = 12, /* calls until Aspen does something about it */
    LATE = 2,   /* the rank that the others wait for */
    TAG = 5,
    STRIDE = 997, /* of the bytes that are compared */
};

static int rank, size;

static void begin(void)
{
    MPI_Request request;
    int sum;

    for (int i = 0; i < FIRST; i++) {
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Ibarrier(MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

static void wait_for_late(void)
{
    int word;

    if (rank != LATE)
        MPI_Recv(&word, 1, MPI_INT, LATE, TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

static void tell_others(void)
{
    for (int to = 0; to < size; to++)
        if (rank == LATE && to != LATE)
            MPI_Send(&rank, 1, MPI_INT, to, TAG, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    bool reduces = argc > 1 && strcmp(argv[1], "allreduce") == 0;
    int operations = argc > 3 ? atoi(argv[2]) : 0, wrong = 0;
    int bytes = argc > 3 ? atoi(argv[3]) : 0;
    MPI_Request *requests = calloc((size_t) operations + 1, sizeof(*requests));
    char *ones = malloc((size_t) bytes + 1);
    char *data = malloc((size_t) operations * (size_t) bytes + 1);

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (operations == 0 || size <= LATE || !requests || !ones || !data)
        MPI_Abort(MPI_COMM_WORLD, 2);
    begin();
    memset(ones, 1, (size_t) bytes);
    for (int i = 0; i < operations; i++) {
        char *to = data + (size_t) i * (size_t) bytes;

        memset(to, rank == 0 ? i : -1, (size_t) bytes);
        if (reduces)
            MPI_Iallreduce(ones, to, bytes, MPI_SIGNED_CHAR, MPI_SUM,
                           MPI_COMM_WORLD, &requests[i]);
        else
            MPI_Ibcast(to, bytes, MPI_SIGNED_CHAR, 0, MPI_COMM_WORLD,
                       &requests[i]);
    }
    wait_for_late();
    for (int i = 0; i < operations; i++)
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    tell_others();
    for (int i = 0; i < operations; i++)
        for (int b = 0; b < bytes; b += STRIDE)
            wrong += data[(size_t) i * (size_t) bytes + (size_t) b] !=
                     (char) (reduces ? size : i);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0 && wrong == 0)
        puts("crowd: ok");
    MPI_Finalize();
    free(requests);
    free(ones);
    free(data);
    return wrong != 0;
}
