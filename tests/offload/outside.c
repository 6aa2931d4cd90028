/* SPDX-License-Identifier: BSD-3-Clause */
/* What goes on while a rank is outside MPI, with an offload thread and not on
 * plain MPICH: each story prints one line. Two processes. Large messages of
 * "bsend" and "freed" need both sides where UCX uses TCP; "full" is too much
 * for plain MPICH over libfabric's tcp.
 *
 * usage: offload_outside [NAME...] */
#include "many.h"
#include "tests/stories.h"

#include <stdlib.h>

/* A thread that naps for as long as it has been idle is asleep after LATE_MS:
 * it woke up some 0.2 s before, and will again a second later. */
enum { BIG = 4 << 20, LIMIT_MS = 20000, LATE_MS = 1500 };

static int peer;

/* A large message arrives while nobody calls MPI. */
static void outside(void)
{
    volatile char *in = calloc(1, BIG);
    char *out = malloc(BIG);
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int waited = 0;

    memset(out, 7, BIG);
    MPI_Irecv((void *) in, BIG, MPI_BYTE, peer, 1, MPI_COMM_WORLD,
              &requests[0]);
    MPI_Isend(out, BIG, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &requests[1]);
    while ((!in[0] || !in[BIG - 1]) && waited++ < LIMIT_MS)
        pause_ms(1);
    EXPECT(in[0] == 7 && in[BIG - 1] == 7);
    MPI_Waitall(2, requests, statuses);
    free((void *) in);
    free(out);
}

/* A software Put arrives at a target that is outside MPI. */
static void idle(void)
{
    volatile int *value;
    MPI_Win win;
    int waited = 0, mine = 40 + rank;

    MPI_Win_allocate(sizeof(*value), sizeof(*value), MPI_INFO_NULL,
                     MPI_COMM_WORLD, &value, &win);
    *value = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    MPI_Accumulate(&mine, 1, MPI_INT, peer, 0, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_flush(peer, win);
    while (*value == 0 && waited++ < LIMIT_MS)
        pause_ms(1);
    EXPECT(*value == 40 + peer);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

/* The peer takes a large message from this rank, which is outside MPI and has
 * no request of it, after more than a second, and at once. */
static void left_to_mpi(void (*send)(const char *message), void (*after)(void))
{
    enum { SENDER_MS = 2800 };
    char *message = calloc(1, BIG);
    double began;

    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        send(message);
        pause_ms(SENDER_MS);
        after();
    } else {
        pause_ms(LATE_MS);
        began = MPI_Wtime();
        MPI_Recv(message, BIG, MPI_BYTE, peer, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        EXPECT(MPI_Wtime() - began < 0.25);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    free(message);
}

static void send_buffered(const char *message)
{
    int size = BIG + MPI_BSEND_OVERHEAD;

    MPI_Buffer_attach(malloc((size_t) size), size);
    MPI_Bsend(message, BIG, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
}

static void detach(void)
{
    void *buffer;
    int size;

    MPI_Buffer_detach(&buffer, &size);
    free(buffer);
}

static void bsend(void)
{
    left_to_mpi(send_buffered, detach);
}

static void send_and_free(const char *message)
{
    MPI_Request request;

    MPI_Isend(message, BIG, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
}

static void nothing(void)
{
}

static void freed(void)
{
    left_to_mpi(send_and_free, nothing);
}

/* More small messages than UCX has room for do not wait until their receiver
 * comes to MPI: without Aspen the sender stands there for two seconds. */
static void flood(void)
{
    enum { MESSAGES = 1000 };
    double began;
    int value = 0;

    MPI_Barrier(MPI_COMM_WORLD);
    pause_ms(rank == 0 ? LATE_MS : 3500);
    began = MPI_Wtime();
    for (int i = 0; i < MESSAGES; i++) {
        if (rank == 0)
            MPI_Send(&i, 1, MPI_INT, peer, 1, MPI_COMM_WORLD);
        else
            MPI_Recv(&value, 1, MPI_INT, peer, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    }
    EXPECT(rank == 1 || MPI_Wtime() - began < 0.5);
    EXPECT(rank == 0 || value == MESSAGES - 1);
}

/* More requests than the ring has places. */
static void full(void)
{
    exchange_many(20000, peer);
}

static const struct story stories[] = {
    {"outside", outside}, {"idle", idle},   {"bsend", bsend},
    {"freed", freed},     {"flood", flood}, {"full", full},
};

int main(int argc, char **argv)
{
    return tell_to_each_other(argc, argv, stories,
                              sizeof(stories) / sizeof(stories[0]), &peer);
}
