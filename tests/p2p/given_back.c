/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that adaptation may give back to MPI: rounds of messages around all
 * ranks, with wildcards, and a reduction, for some seconds; then the same on a
 * duplicate.
 *
 *   p2p_given_back MS WHAT
 *     chats      ranks are in MPI all the time
 *     computes   and out of it for most of it
 *     receives   chats, with a receive posted all the time
 *     persists   chats, with a persistent receive that is not active
 *     ahead      chats, with a message that is sent, and not received
 *     cancels    chats, after a send that was cancelled
 *     errs       chats, after a collective call of rank 0 alone, which is wrong
 *     levels     chats, with MPI_THREAD_MULTIPLE in every other rank
 *
 * Prints "given_back: 0 wrong". */
#include "../expect.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROUND = 1,
    LONG = 2, /* what is posted or sent before all rounds, and ended after */
    MESSAGES = 3,
    COMPUTES_MS = 20,
    LARGE = 1 << 18, /* numbers: too many to be sent at once */
};

static int size, next, before;

static void round_of(MPI_Comm comm, int number)
{
    MPI_Request requests[MESSAGES];
    MPI_Status statuses[MESSAGES];
    int out[MESSAGES], in;

    for (int i = 0; i < MESSAGES; i++) {
        out[i] = number * MESSAGES + i;
        MPI_Isend(&out[i], 1, MPI_INT, next, ROUND, comm, &requests[i]);
    }
    for (int i = 0; i < MESSAGES; i++) {
        MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, ROUND, comm,
                 MPI_STATUS_IGNORE);
        EXPECT(in == out[i]);
    }
    MPI_Waitall(MESSAGES, requests, statuses);
}

static void rounds(MPI_Comm comm, double seconds, long computes_ms)
{
    double end = MPI_Wtime() + seconds;
    int go_on = 1, number = 0;

    while (go_on) {
        int mine = MPI_Wtime() < end;

        round_of(comm, number++);
        if (computes_ms)
            pause_ms(computes_ms);
        MPI_Allreduce(&mine, &go_on, 1, MPI_INT, MPI_LAND, comm);
    }
}

/* Of what no rank knows but this one. */
static void cancel_one(void)
{
    static int numbers[LARGE];
    MPI_Request request;
    MPI_Status status;
    int cancelled = 0;

    MPI_Isend(numbers, LARGE, MPI_INT, next, LONG, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &cancelled);
    EXPECT(cancelled);
}

static void err(void)
{
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    EXPECT(rank > 0 ||
           MPI_Bcast(NULL, -1, MPI_INT, 0, MPI_COMM_WORLD) != MPI_SUCCESS);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static void start(int *argc, char ***argv, int levels)
{
    const char *number = getenv("PMI_RANK");
    int odd = number && atoi(number) % 2, level;

    MPI_Init_thread(argc, argv,
                    levels && odd ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                    &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    next = (rank + 1) % size;
    before = (rank + size - 1) % size;
}

int main(int argc, char **argv)
{
    const char *what = argc == 3 ? argv[2] : "";
    double seconds = argc == 3 ? atof(argv[1]) / 1e3 : 0;
    int told = -1, all = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm copy;

    start(&argc, &argv, strcmp(what, "levels") == 0);
    if (strcmp(what, "cancels") == 0)
        cancel_one();
    if (strcmp(what, "errs") == 0)
        err();
    if (strcmp(what, "receives") == 0)
        MPI_Irecv(&told, 1, MPI_INT, before, LONG, MPI_COMM_WORLD, &request);
    if (strcmp(what, "persists") == 0)
        MPI_Recv_init(&told, 1, MPI_INT, before, LONG, MPI_COMM_WORLD,
                      &request);
    if (strcmp(what, "ahead") == 0)
        MPI_Send(&rank, 1, MPI_INT, next, LONG, MPI_COMM_WORLD);
    rounds(MPI_COMM_WORLD, seconds,
           strcmp(what, "computes") == 0 ? COMPUTES_MS : 0);
    if (strcmp(what, "persists") == 0)
        MPI_Start(&request);
    if (strcmp(what, "ahead") == 0)
        MPI_Irecv(&told, 1, MPI_INT, before, LONG, MPI_COMM_WORLD, &request);
    else if (request != MPI_REQUEST_NULL)
        MPI_Send(&rank, 1, MPI_INT, next, LONG, MPI_COMM_WORLD);
    if (request != MPI_REQUEST_NULL) {
        int persists = strcmp(what, "persists") == 0;

        MPI_Wait(&request, MPI_STATUS_IGNORE);
        EXPECT(told == before);
        if (persists)
            MPI_Request_free(&request);
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    rounds(copy, seconds / 10, 0);
    MPI_Comm_free(&copy);
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    if (rank == 0)
        printf("given_back: %d wrong\n", all);
    return wrong != 0 || argc != 3;
}
