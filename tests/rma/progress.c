/* SPDX-License-Identifier: BSD-3-Clause */
/* A process that waits in a loop of one-sided calls for another one, whose
 * MPI_Ssend to it waits to be matched: the calls have to make progress for the
 * message, though ghosts do their work. usage: progress */
#include "rma.h"

enum loop { FLUSH, FLUSH_ALL, FLUSH_LOCAL, LOCKS, SYNC, GETS, LOOPS };

static const char *const names[LOOPS] = {
    "flush", "flush_all", "flush_local", "lock and unlock", "sync", "get"};

/* Look at the flag once, by the calls of this loop. */
static int look(enum loop loop, MPI_Win win, volatile int *flag)
{
    int seen;

    switch (loop) {
    case FLUSH:
        MPI_Win_flush(0, win);
        break;
    case FLUSH_ALL:
        MPI_Win_flush_all(win);
        break;
    case FLUSH_LOCAL:
        MPI_Win_flush_local(0, win);
        break;
    case SYNC:
        MPI_Win_sync(win);
        break;
    case LOCKS:
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        seen = *flag;
        MPI_Win_unlock(0, win);
        return seen;
    case GETS:
        MPI_Get(&seen, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
        MPI_Win_flush(0, win);
        return seen;
    case LOOPS:
        break;
    }
    return *flag;
}

static void wait_in(enum loop loop, MPI_Win win, volatile int *flag)
{
    MPI_Request request;
    int message = 0;

    MPI_Irecv(&message, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
    if (loop != LOCKS)
        MPI_Win_lock_all(0, win);
    while (!look(loop, win, flag))
        ;
    if (loop != LOCKS)
        MPI_Win_unlock_all(win);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT(message == 5, "message %d", message);
}

static void answer(MPI_Win win)
{
    const int one = 1, message = 5;

    MPI_Ssend(&message, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_REPLACE, win);
    MPI_Win_unlock(0, win);
}

int main(int argc, char **argv)
{
    int *flag;
    MPI_Win win;

    rma_begin(&argc, &argv);
    MPI_Win_allocate(sizeof(*flag), sizeof(*flag), MPI_INFO_NULL,
                     MPI_COMM_WORLD, &flag, &win);
    for (int loop = 0; loop < LOOPS; loop++) {
        *flag = 0;
        MPI_Barrier(MPI_COMM_WORLD);
        if (rma_rank == 0)
            wait_in(loop, win, flag);
        else if (rma_rank == 1)
            answer(win);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rma_rank == 0)
            printf("%s\n", names[loop]);
    }
    MPI_Win_free(&win);
    return rma_end("progress");
}
