/* SPDX-License-Identifier: BSD-3-Clause */
/* Random receives, of exact and any source, tag and communicator, against a
 * matcher of this program's own (MPI 4.0, 3.5: messages of one sender match in
 * order, receives in the order in which they were posted).
 *
 * usage: match_order [ROUNDS [SEED]]
 * In each round rank 0 posts receives first and rank 1 sends then, or the other
 * way round, or half of the messages come before the receives. Prints how many
 * messages went elsewhere than they should. */
#include <mpi.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    MESSAGES = 200, /* of a round */
    TAGS = 5,
    COMMS = 2,
    LATE_TAG = 100,
};

struct message {
    int comm, tag;
    bool taken;
};

struct receive {
    int comm, tag, source; /* -1: any */
    int got, expected;     /* the number of a message */
    MPI_Request request;
};

static MPI_Comm comms[COMMS];
static struct message messages[MESSAGES];
static struct receive receives[MESSAGES];
static uint64_t seed;

static uint32_t draw(uint32_t below)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t) (seed >> 33) % below;
}

/* Both ranks draw the same. A receive takes the place of a message's, so that
 * most find one. */
static void draw_round(void)
{
    for (int i = 0; i < MESSAGES; i++) {
        struct message *m = &messages[i];
        struct receive *r = &receives[MESSAGES - 1 - i];

        *m = (struct message){(int) draw(COMMS), (int) draw(TAGS), false};
        *r = (struct receive){
            m->comm, draw(3) ? m->tag : -1, draw(3) ? 1 : -1, -1,
            -1,      MPI_REQUEST_NULL};
    }
    for (int i = MESSAGES - 1; i > 0; i--) {
        int j = (int) draw((uint32_t) i + 1);
        struct receive kept = receives[i];

        receives[i] = receives[j];
        receives[j] = kept;
    }
}

static bool fits(const struct receive *r, const struct message *m)
{
    return r->comm == m->comm && (r->tag < 0 || r->tag == m->tag);
}

/* Receives 0 to posted-1 find the messages 0 to sent-1 waiting, each the first
 * that is left; messages that come find the first receive that waits. */
static void match_waiting(int sent)
{
    for (int r = 0; r < MESSAGES; r++)
        for (int m = 0; m < sent && receives[r].expected < 0; m++)
            if (!messages[m].taken && fits(&receives[r], &messages[m])) {
                messages[m].taken = true;
                receives[r].expected = m;
            }
}

static void match_coming(int sent)
{
    for (int m = sent; m < MESSAGES; m++)
        for (int r = 0; r < MESSAGES && !messages[m].taken; r++)
            if (receives[r].expected < 0 && fits(&receives[r], &messages[m])) {
                messages[m].taken = true;
                receives[r].expected = m;
            }
}

static void send(int from, int to)
{
    for (int m = from; m < to; m++)
        MPI_Send(&m, 1, MPI_INT, 0, messages[m].tag, comms[messages[m].comm]);
}

/* What was sent before has come: messages of one sender do not overtake each
 * other, and this one is looked for. */
static void meet(int rank)
{
    int nothing = 0;

    for (int c = 0; c < COMMS; c++)
        if (rank == 1)
            MPI_Ssend(&nothing, 1, MPI_INT, 0, LATE_TAG, comms[c]);
        else if (rank == 0)
            MPI_Recv(&nothing, 1, MPI_INT, 1, LATE_TAG, comms[c],
                     MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* One in eight is asked for by a matched probe, which takes it there and then
 * if it waits. */
static void post(struct receive *r, bool by_probe)
{
    MPI_Comm comm = comms[r->comm];
    int tag = r->tag < 0 ? MPI_ANY_TAG : r->tag, found = 0;
    int source = r->source < 0 ? MPI_ANY_SOURCE : r->source;
    MPI_Message message;

    if (by_probe)
        MPI_Improbe(source, tag, comm, &found, &message, MPI_STATUS_IGNORE);
    if (found)
        MPI_Imrecv(&r->got, 1, MPI_INT, &message, &r->request);
    else
        MPI_Irecv(&r->got, 1, MPI_INT, source, tag, comm, &r->request);
}

static long count_wrong(void)
{
    long wrong = 0;

    for (int r = 0; r < MESSAGES; r++) {
        if (receives[r].expected < 0)
            MPI_Cancel(&receives[r].request);
        MPI_Wait(&receives[r].request, MPI_STATUS_IGNORE);
        wrong += receives[r].got != receives[r].expected;
    }
    return wrong;
}

/* Nobody waited for these. */
static void receive_rest(int rank)
{
    int number;

    for (int m = 0; m < MESSAGES; m++)
        if (rank == 0 && !messages[m].taken)
            MPI_Recv(&number, 1, MPI_INT, 1, messages[m].tag,
                     comms[messages[m].comm], MPI_STATUS_IGNORE);
}

static long play_round(int rank)
{
    static const int before[] = {0, MESSAGES, MESSAGES / 2};
    int sent = before[draw(3)];
    long wrong = 0;

    draw_round();
    match_waiting(sent);
    match_coming(sent);
    if (rank == 1)
        send(0, sent);
    meet(rank);
    for (int r = 0; rank == 0 && r < MESSAGES; r++)
        post(&receives[r], draw(8) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1)
        send(sent, MESSAGES);
    if (rank == 0)
        wrong = count_wrong();
    receive_rest(rank);
    MPI_Barrier(MPI_COMM_WORLD);
    return wrong;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 50, rank;
    uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    long wrong = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    comms[0] = MPI_COMM_WORLD;
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    for (int i = 0; i < rounds; i++) {
        seed = first + (uint64_t) i;
        wrong += play_round(rank);
    }
    MPI_Comm_free(&comms[1]);
    if (rank == 0)
        printf("%d receives, %ld wrong\n", rounds * MESSAGES, wrong);
    MPI_Finalize();
    return wrong != 0;
}
