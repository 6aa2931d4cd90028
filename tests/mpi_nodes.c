/* SPDX-License-Identifier: BSD-3-Clause */
/* Say where each rank runs and how MPI sees its node, and move data between all
 * nodes in the three ways that UCX treats differently: short and long messages
 * and one-sided. Run by t02xx-cluster-*.bats; knows nothing of Aspen.
 * Exits 1 if any data arrived wrong. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONG_BYTES = 1 << 20 };

static int wrong(const char *data, int value)
{
    for (size_t i = 0; i < LONG_BYTES; i++)
        if (data[i] != (char) value)
            return 1;
    return 0;
}

/* Pass a long buffer around the ring of ranks, by message and by put. The flush
 * names its target: UCX 1.13 may end a flush of the whole worker, which is what
 * flush_all, unlock_all and fence are in MPICH 4.0.2, before a long put to the
 * last of several nodes has arrived. */
static int exchange(int rank, int size)
{
    int next = (rank + 1) % size, previous = (rank + size - 1) % size, bad;
    char *mine = malloc(LONG_BYTES), *window;
    MPI_Win win;

    if (!mine)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Win_allocate(LONG_BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window,
                     &win);
    memset(mine, rank, LONG_BYTES);
    memset(window, -1, LONG_BYTES);
    MPI_Sendrecv(mine, LONG_BYTES, MPI_CHAR, next, 0, window, LONG_BYTES,
                 MPI_CHAR, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    bad = wrong(window, previous);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    MPI_Put(mine, LONG_BYTES, MPI_CHAR, previous, 0, LONG_BYTES, MPI_CHAR, win);
    MPI_Win_flush(previous, win);
    MPI_Barrier(MPI_COMM_WORLD);
    bad |= wrong(window, next);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    free(mine);
    return bad;
}

int main(int argc, char **argv)
{
    int rank, size, node_rank, node_size, bad, any;
    char host[256];
    MPI_Comm node;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
                        &node);
    MPI_Comm_rank(node, &node_rank);
    MPI_Comm_size(node, &node_size);
    MPI_Comm_free(&node);
    bad = exchange(rank, size);
    MPI_Allreduce(&bad, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    gethostname(host, sizeof host);
    printf("rank %d of %d on %s: %d of %d there, uid %d, data %s\n", rank, size,
           host, node_rank, node_size, (int) getuid(), bad ? "WRONG" : "good");
    fflush(stdout);
    MPI_Finalize();
    return any;
}
