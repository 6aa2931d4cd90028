/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages and communicators whose numbers are known, for the record and the
 * trace. Of n ranks each sends to the next one three messages of SMALL bytes
 * and two of LARGE, of which the last one is received in memory of
 * MPI_Alloc_mem; then rank 0 sends POSTED and UNEXPECTED messages of 8 bytes to
 * itself. */
#include "../expect.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

enum { SMALL = 100, LARGE = 100000, POSTED = 40, UNEXPECTED = 30 };

static int size;

static void pass_on(int bytes, char *to)
{
    char *from = calloc(1, LARGE), *own = calloc(1, LARGE);

    from[bytes - 1] = (char) (rank + 1);
    to = to ? to : own;
    MPI_Sendrecv(from, bytes, MPI_BYTE, (rank + 1) % size, 0, to, bytes,
                 MPI_BYTE, (rank + size - 1) % size, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    EXPECT(to[bytes - 1] == (rank + size - 1) % size + 1);
    free(from);
    free(own);
}

static void pass_all(void)
{
    char *memory;

    for (int i = 0; i < 3; i++)
        pass_on(SMALL, NULL);
    pass_on(LARGE, NULL);
    MPI_Alloc_mem(LARGE, MPI_INFO_NULL, &memory);
    pass_on(LARGE, memory);
    MPI_Free_mem(memory);
}

/* Queues of a known length: no other rank has posted anything. */
static void to_itself(int n, bool receives_first)
{
    int64_t in[POSTED] = {0}, out[POSTED];
    MPI_Request requests[2 * POSTED];
    MPI_Status statuses[2 * POSTED];

    for (int half = 0; half < 2; half++)
        for (int i = 0; i < n; i++)
            if ((half == 0) == receives_first) {
                MPI_Irecv(&in[i], 1, MPI_INT64_T, 0, i, MPI_COMM_WORLD,
                          &requests[half * n + i]);
            } else {
                out[i] = i;
                MPI_Isend(&out[i], 1, MPI_INT64_T, 0, i, MPI_COMM_WORLD,
                          &requests[half * n + i]);
            }
    MPI_Waitall(2 * n, requests, statuses);
    for (int i = 0; i < n; i++)
        EXPECT(in[i] == i);
}

/* Number 1 is a duplicate, 2 one that asks for MPI's own messages, 3 two
 * halves, and there is an intercommunicator between these. */
static void make_communicators(void)
{
    MPI_Comm copy, own, half, inter, inter_copy;
    MPI_Info info;

    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Info_create(&info);
    MPI_Info_set(info, "aspen_p2p", "off");
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &own);
    MPI_Info_free(&info);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 1, &inter);
    MPI_Comm_dup(inter, &inter_copy);
    MPI_Comm_free(&inter_copy);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
    MPI_Comm_free(&own);
    MPI_Comm_free(&copy);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    make_communicators();
    pass_all();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        to_itself(POSTED, true);
        to_itself(UNEXPECTED, false);
    }
    MPI_Finalize();
    return wrong != 0;
}
