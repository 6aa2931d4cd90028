/* SPDX-License-Identifier: BSD-3-Clause */
/* All ranks post many non-blocking collectives. Rank 0 then waits in another
 * call of MPI for what rank 1 does when it has completed all of its own; the
 * others complete theirs. In MPI that ends, since what was posted goes on in
 * any call.
 *
 * usage: coll_behind OPERATION WAIT OPERATIONS BYTES COMMUNICATORS
 *   OPERATION  bcast (from rank 1), allreduce, allgather (BYTES of each rank),
 *              reduce (to the last rank)
 *   WAIT       recv, probe, ssend, barrier, fence, lock
 * For 3 ranks or more. Prints "behind: ok" when all data are right. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FIRST = 12, /* calls until Aspen does something about a communicator */
    READER = 0,
    PEER = 1,
    TAG = 5,
    STRIDE = 997, /* of the bytes that are compared */
};

static int rank, size, operations, bytes, ncomms;
static MPI_Comm *comms, other;
static MPI_Win win;
static MPI_Request *requests;
static char *ones, *data;
static int word;

static void begin(MPI_Comm comm)
{
    MPI_Request request;
    int sum;

    for (int i = 0; i < FIRST; i++) {
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
        MPI_Ibarrier(comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

/* ---- operations --------------------------------------------------------------- */

static void post_bcast(char *to, MPI_Comm comm, MPI_Request *request)
{
    MPI_Ibcast(rank == PEER ? ones : to, bytes, MPI_SIGNED_CHAR, PEER, comm,
               request);
}

static void post_allreduce(char *to, MPI_Comm comm, MPI_Request *request)
{
    MPI_Iallreduce(ones, to, bytes, MPI_SIGNED_CHAR, MPI_SUM, comm, request);
}

static void post_allgather(char *to, MPI_Comm comm, MPI_Request *request)
{
    MPI_Iallgather(ones, bytes, MPI_SIGNED_CHAR, to, bytes, MPI_SIGNED_CHAR,
                   comm, request);
}

static void post_reduce(char *to, MPI_Comm comm, MPI_Request *request)
{
    MPI_Ireduce(ones, to, bytes, MPI_SIGNED_CHAR, MPI_SUM, size - 1, comm,
                request);
}

static int all_but_peer(void)
{
    return rank != PEER;
}

static int all_ranks(void)
{
    return 1;
}

static int last_rank(void)
{
    return rank == size - 1;
}

static const struct operation {
    const char *name;
    void (*post)(char *to, MPI_Comm comm, MPI_Request *request);
    int (*gets)(void);
    int each, sums; /* a block of each rank; all added up */
} known[] = {
    {"bcast", post_bcast, all_but_peer, 0, 0},
    {"allreduce", post_allreduce, all_ranks, 0, 1},
    {"allgather", post_allgather, all_ranks, 1, 0},
    {"reduce", post_reduce, last_rank, 0, 1},
};

/* ---- waits -------------------------------------------------------------------- */

static void reader_recv(void)
{
    MPI_Recv(&word, 1, MPI_INT, PEER, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void reader_probe(void)
{
    MPI_Probe(PEER, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    reader_recv();
}

static void peer_send(void)
{
    MPI_Send(&word, 1, MPI_INT, READER, TAG, MPI_COMM_WORLD);
}

static void reader_ssend(void)
{
    MPI_Ssend(&word, 1, MPI_INT, PEER, TAG, MPI_COMM_WORLD);
}

static void peer_recv(void)
{
    MPI_Recv(&word, 1, MPI_INT, READER, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void in_barrier(void)
{
    MPI_Barrier(other);
}

static void in_fence(void)
{
    MPI_Win_fence(0, win);
}

static void reader_lock(void)
{
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, PEER, 0, win);
    MPI_Put(&word, 1, MPI_INT, PEER, 0, 1, MPI_INT, win);
    MPI_Win_unlock(PEER, win);
}

static void peer_lock(void)
{
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, PEER, 0, win);
}

static void peer_unlock(void)
{
    MPI_Win_unlock(PEER, win);
}

static void nothing(void)
{
}

static const struct wait {
    const char *name;
    void (*peer_before)(void), (*reader)(void), (*peer)(void), (*rest)(void);
} waits[] = {
    {"recv", nothing, reader_recv, peer_send, nothing},
    {"probe", nothing, reader_probe, peer_send, nothing},
    {"ssend", nothing, reader_ssend, peer_recv, nothing},
    {"barrier", nothing, in_barrier, in_barrier, in_barrier},
    {"fence", nothing, in_fence, in_fence, in_fence},
    {"lock", peer_lock, reader_lock, peer_unlock, nothing},
};

#define FIND(table, text)                                                      \
    for (size_t i = 0; i < sizeof(table) / sizeof((table)[0]); i++)            \
        if (strcmp((table)[i].name, text) == 0)                                \
            return &(table)[i];                                                \
    return NULL

static const struct operation *find_operation(const char *name)
{
    FIND(known, name);
}

static const struct wait *find_wait(const char *name)
{
    FIND(waits, name);
}

/* ---- run ---------------------------------------------------------------------- */

static void complete(void)
{
    for (int i = 0; i < operations; i++)
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
}

static void run(const struct operation *operation, const struct wait *wait,
                size_t block)
{
    if (rank == PEER)
        wait->peer_before();
    MPI_Barrier(other);
    for (int i = 0; i < operations; i++)
        operation->post(data + (size_t) i * block, comms[i % ncomms],
                        &requests[i]);
    if (rank == READER)
        wait->reader();
    complete();
    if (rank == PEER)
        wait->peer();
    else if (rank != READER)
        wait->rest();
}

static int count_wrong(const struct operation *operation, size_t all)
{
    int wrong = 0;

    for (size_t b = 0; b < all; b += STRIDE)
        wrong += data[b] != (char) (operation->sums ? size : 1);
    return wrong;
}

static int prepare(size_t all)
{
    requests = calloc((size_t) operations, sizeof(*requests));
    comms = calloc((size_t) ncomms, sizeof(MPI_Comm));
    ones = malloc((size_t) bytes);
    data = malloc(all);
    if (!requests || !comms || !ones || !data)
        return -1;
    memset(ones, 1, (size_t) bytes);
    memset(data, -1, all);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Win_create(&word, sizeof(word), sizeof(word), MPI_INFO_NULL,
                   MPI_COMM_WORLD, &win);
    for (int c = 0; c < ncomms; c++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[c]);
        begin(comms[c]);
    }
    return 0;
}

int main(int argc, char **argv)
{
    const struct operation *operation = argc > 5 ? find_operation(argv[1])
                                                 : NULL;
    const struct wait *wait = argc > 5 ? find_wait(argv[2]) : NULL;
    int wrong = 0;
    size_t block, all;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!operation || !wait || size < 3)
        MPI_Abort(MPI_COMM_WORLD, 2);
    operations = atoi(argv[3]);
    bytes = atoi(argv[4]);
    ncomms = atoi(argv[5]);
    block = operation->gets()
                ? (size_t) bytes * (operation->each ? (size_t) size : 1)
                : 0;
    all = (size_t) operations * block;
    if (operations <= 0 || bytes <= 0 || ncomms <= 0 || prepare(all + 1) != 0)
        MPI_Abort(MPI_COMM_WORLD, 2);
    run(operation, wait, block);
    wrong = count_wrong(operation, all);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0 && wrong == 0)
        puts("behind: ok");
    MPI_Win_free(&win);
    MPI_Comm_free(&other);
    for (int c = 0; c < ncomms; c++)
        MPI_Comm_free(&comms[c]);
    MPI_Finalize();
    free(requests);
    free(comms);
    free(ones);
    free(data);
    return wrong != 0;
}
