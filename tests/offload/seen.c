/* SPDX-License-Identifier: BSD-3-Clause */
/* What MPI has completed, the next Test says is complete: after MPI_Cancel,
 * after the receive of a message has returned, and of small messages, which MPI
 * copies, as soon as they are sent. With few and with many other requests under
 * way. Each rank talks to itself; MPI copies only what goes through a larger
 * world. usage: seen LEVEL (of MPI_Init_thread) ; 2 ranks */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { SENDS = 3, ROUNDS = 100, OTHERS = 1000 };

static MPI_Request sends[SENDS];
static MPI_Status statuses[SENDS];
static int me;

static void cancel_all(void)
{
    for (int i = 0; i < SENDS; i++)
        MPI_Cancel(&sends[i]);
}

static void receive(int count)
{
    int in;

    for (int i = 0; i < count; i++)
        MPI_Recv(&in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
}

static bool status_of_cancelled(void)
{
    int flag;

    cancel_all();
    MPI_Request_get_status(sends[0], &flag, &statuses[0]);
    return flag;
}

static bool test_of_cancelled(void)
{
    int flag, cancelled;

    cancel_all();
    MPI_Test(&sends[SENDS - 1], &flag, &statuses[0]);
    if (!flag)
        return false;
    MPI_Test_cancelled(&statuses[0], &cancelled);
    return cancelled;
}

static bool test(void)
{
    int flag;

    receive(1);
    MPI_Test(&sends[0], &flag, &statuses[0]);
    return flag;
}

static bool testall(void)
{
    int flag;

    receive(SENDS);
    MPI_Testall(SENDS, sends, &flag, statuses);
    return flag;
}

static bool testany(void)
{
    int flag, index;

    receive(1);
    MPI_Testany(SENDS, sends, &index, &flag, &statuses[0]);
    return flag && index == 0;
}

static bool testsome(void)
{
    int count, indices[SENDS];

    receive(SENDS);
    MPI_Testsome(SENDS, sends, &count, indices, statuses);
    return count == SENDS;
}

static bool small(void)
{
    MPI_Request copied[SENDS];
    int out[SENDS] = {0}, in, flag;

    for (int i = 0; i < SENDS; i++)
        MPI_Isend(&out[i], 1, MPI_INT, me, 1, MPI_COMM_WORLD, &copied[i]);
    MPI_Testall(SENDS, copied, &flag, statuses);
    for (int i = 0; i < SENDS; i++)
        MPI_Recv(&in, 1, MPI_INT, me, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Waitall(SENDS, copied, statuses);
    return flag;
}

static const struct {
    const char *name;
    bool (*seen)(void);
} cases[] = {
    {"status of cancelled", status_of_cancelled},
    {"test of cancelled", test_of_cancelled},
    {"test", test},
    {"testall", testall},
    {"testany", testany},
    {"testsome", testsome},
    {"small", small},
};

/* In how many rounds was it not seen? */
static int missed(size_t which)
{
    int out[SENDS] = {0}, times = 0;

    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < SENDS; i++)
            MPI_Issend(&out[i], 1, MPI_INT, 0, 1, MPI_COMM_SELF, &sends[i]);
        times += !cases[which].seen();
        for (int i = 0; i < SENDS; i++) {
            if (sends[i] != MPI_REQUEST_NULL)
                MPI_Cancel(&sends[i]);
        }
        MPI_Waitall(SENDS, sends, statuses);
    }
    return times;
}

static int look(int others)
{
    int all = 0;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int times = missed(i);

        if (times != 0)
            printf("%s, %d others: %d missed\n", cases[i].name, others, times);
        all += times;
    }
    return all;
}

int main(int argc, char **argv)
{
    static MPI_Request others[OTHERS];
    static MPI_Status ended[OTHERS];
    static int in[OTHERS];
    int provided, under_way[] = {0, 100, OTHERS}, posted = 0, all = 0;

    MPI_Init_thread(&argc, &argv, atoi(argv[1]), &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    for (size_t i = 0; i < sizeof(under_way) / sizeof(under_way[0]); i++) {
        for (; posted < under_way[i]; posted++)
            MPI_Irecv(&in[posted], 1, MPI_INT, 0, 2, MPI_COMM_SELF,
                      &others[posted]);
        all += look(posted);
    }
    for (int i = 0; i < OTHERS; i++)
        MPI_Cancel(&others[i]);
    MPI_Waitall(OTHERS, others, ended);
    printf("%d missed\n", all);
    MPI_Finalize();
    return 0;
}
