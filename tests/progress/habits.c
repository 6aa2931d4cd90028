/* SPDX-License-Identifier: BSD-3-Clause */
/* What a program may expect of a sleeping progress thread. MPI is at
 * MPI_THREAD_FUNNELED, or at the level of the first argument. Two processes;
 * each story prints one line. Knows of Aspen only the name of the thread. */
#define _GNU_SOURCE
#include "tests/helper_threads.h"
#include "tests/stories.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BIG = 1 << 20,
    IDLE_MS = 300,
    LIMIT_MS = 5000 /* less than a helper sleeps that nobody wakes */
};

static int peer;
static MPI_Status statuses[16];

static struct helper_use used(void)
{
    struct helper_use use = helper_use("aspen-progress");

    EXPECT(use.threads == 1);
    return use;
}

static double helper_ms(void)
{
    return (double) used().cpu_ns / 1e6;
}

/* Does it sleep? If not, it looks at MPI 300 times meanwhile. */
static int sleeps(void)
{
    struct helper_use before = used(), after;

    pause_ms(IDLE_MS);
    after = used();
    return after.cpu_ns - before.cpu_ns < 5000000 &&
           after.runs - before.runs < 30;
}

/* Nothing is under way, or only small messages: it sleeps. */
static void asleep(void)
{
    MPI_Request requests[2];
    int in = -1, out = rank;

    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT(sleeps());
    MPI_Irecv(&in, 1, MPI_INT, peer, 1, MPI_COMM_WORLD, &requests[0]);
    EXPECT(sleeps());
    MPI_Isend(&out, 1, MPI_INT, peer, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, statuses);
    EXPECT(in == peer);
}

/* A large receive that nobody answers for long costs little. */
static void patient(void)
{
    char *in = malloc(BIG), *out = calloc(1, BIG);
    MPI_Request request;
    double before;

    MPI_Irecv(in, BIG, MPI_BYTE, peer, 2, MPI_COMM_WORLD, &request);
    before = helper_ms();
    pause_ms(IDLE_MS);
    EXPECT(helper_ms() - before < IDLE_MS / 6.0);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(out, BIG, MPI_BYTE, peer, 2, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT(sleeps()); /* it knows of the end */
    free(in);
    free(out);
}

static int arrives(const volatile char *in, char value)
{
    int waited = 0;

    while ((in[0] != value || in[BIG - 1] != value) && waited++ < LIMIT_MS)
        pause_ms(1);
    return in[0] == value && in[BIG - 1] == value;
}

/* Persistent requests, started again and again, arrive outside MPI. */
static void persistent(void)
{
    volatile char *in = calloc(1, BIG);
    char *out = malloc(BIG);
    MPI_Request requests[2];

    MPI_Recv_init((void *) in, BIG, MPI_BYTE, peer, 3, MPI_COMM_WORLD,
                  &requests[0]);
    MPI_Send_init(out, BIG, MPI_BYTE, peer, 3, MPI_COMM_WORLD, &requests[1]);
    for (int turn = 1; turn <= 5; turn++) {
        memset(out, turn, BIG);
        MPI_Startall(2, requests);
        EXPECT(arrives(in, (char) turn));
        MPI_Waitall(2, requests, statuses);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    free((void *) in);
    free(out);
}

/* A reduction of the program, which calls MPI. */
static int reduced;

static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    int size = 0, me;

    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Pack_size(1, *type, MPI_COMM_SELF, &size); /* enters MPI again */
    reduced += size > 0;
    for (int i = 0; i < *count; i++)
        ((int *) inout)[i] += ((const int *) in)[i];
}

static void collective(void)
{
    enum { INTS = 5000, LONG_MS = 100 };
    int *in = malloc(INTS * sizeof(*in)), *sum = calloc(INTS, sizeof(*sum));
    int *twice = calloc(INTS, sizeof(*twice)), waited = 0, late;
    MPI_Request request, own;
    MPI_Op op;

    for (int i = 0; i < INTS; i++)
        in[i] = i + rank;
    MPI_Op_create(add, 1, &op);
    MPI_Iallreduce(in, sum, INTS, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    while (*(volatile int *) &sum[INTS - 1] != 2 * INTS - 1 &&
           waited++ < LIMIT_MS)
        pause_ms(1);
    EXPECT(sum[INTS - 1] == 2 * INTS - 1); /* outside MPI */
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT(sum[0] == 1);
    /* one with a function of the program goes on inside MPI only */
    MPI_Iallreduce(sum, twice, INTS, MPI_INT, op, MPI_COMM_WORLD, &own);
    late = reduced;
    pause_ms(20);
    EXPECT(reduced == late);
    MPI_Wait(&own, MPI_STATUS_IGNORE);
    EXPECT(twice[0] == 2 && reduced > 0);
    MPI_Op_free(&op);
    free(in);
    free(sum);
    free(twice);
}

/* The number of a request that has ended may be used again, and every call that
 * tells of an end counts: after all of these the helper sleeps. */
static void endings(void)
{
    enum { MANY = 8 };
    static char in[MANY][20000], out[MANY][20000];
    MPI_Request requests[2 * MANY];
    int index, flag = 0, count = 0, indices[2 * MANY];

    for (int variant = 0; variant < 7; variant++) {
        for (int i = 0; i < MANY; i++) {
            MPI_Irecv(in[i], sizeof(in[i]), MPI_BYTE, peer, i, MPI_COMM_WORLD,
                      &requests[i]);
            MPI_Isend(out[i], sizeof(out[i]), MPI_BYTE, peer, i, MPI_COMM_WORLD,
                      &requests[MANY + i]);
        }
        switch (variant) {
        case 0:
            for (int i = 0; i < 2 * MANY; i++)
                for (flag = 0; !flag;)
                    MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE);
            break;
        case 1:
            for (flag = 0; !flag;)
                MPI_Testall(2 * MANY, requests, &flag, statuses);
            break;
        case 2:
            for (int i = 0; i < 2 * MANY; i++)
                MPI_Waitany(2 * MANY, requests, &index, MPI_STATUS_IGNORE);
            break;
        case 3:
            for (int i = 0; i < 2 * MANY; i += flag)
                MPI_Testany(2 * MANY, requests, &index, &flag,
                            MPI_STATUS_IGNORE);
            break;
        case 4:
            for (int i = 0; i < 2 * MANY; i += count)
                MPI_Waitsome(2 * MANY, requests, &count, indices, statuses);
            break;
        case 5:
            for (int i = 0; i < 2 * MANY; i += count)
                MPI_Testsome(2 * MANY, requests, &count, indices, statuses);
            break;
        default:
            for (int i = 0; i < MANY; i++)
                MPI_Request_free(&requests[MANY + i]);
            MPI_Waitall(MANY, requests, statuses);
        }
        for (int i = 0; i < 2 * MANY; i++)
            EXPECT(requests[i] == MPI_REQUEST_NULL);
        MPI_Barrier(MPI_COMM_WORLD);
        EXPECT(sleeps());
    }
}

static int level(const char *name)
{
    return strcmp(name, "single") == 0       ? MPI_THREAD_SINGLE
           : strcmp(name, "serialized") == 0 ? MPI_THREAD_SERIALIZED
           : strcmp(name, "multiple") == 0   ? MPI_THREAD_MULTIPLE
                                             : MPI_THREAD_FUNNELED;
}

int main(int argc, char **argv)
{
    static const struct story stories[] = {
        {"asleep", asleep},         {"patient", patient},
        {"persistent", persistent}, {"collective", collective},
        {"endings", endings},
    };
    int wanted = level(argc > 1 ? argv[1] : ""), provided;

    MPI_Init_thread(&argc, &argv, wanted, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    peer = 1 - rank;
    if (rank == 0)
        printf("level %s\n", provided == wanted ? "kept" : "changed");
    (void) tell_stories(stories, sizeof(stories) / sizeof(stories[0]),
                        argv + argc);
    MPI_Finalize();
    return 0;
}
