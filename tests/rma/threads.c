/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_THREAD_MULTIPLE: each thread updates through a window of its own, and
 * all of them through one they share; another makes and frees windows.
 * usage: threads [rounds] */
#include "rma.h"

#include <pthread.h>

enum { THREADS = 3 };

static MPI_Win own[THREADS], common;
static MPI_Comm aside;
static int rounds;

/* Locks exclude threads of one process as little as MPI says: one epoch per
 * window and target at a time, so the shared window is under lock_all. */
static void *update(void *argument)
{
    int me = (int) (size_t) argument;
    const long one = 1;

    for (int i = 0; i < rounds; i++) {
        int target = (rma_rank + i + me) % rma_size;
        long before;

        MPI_Win_lock(i % 2 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, target, 0,
                     own[me]);
        MPI_Accumulate(&one, 1, MPI_LONG, target, 0, 1, MPI_LONG, MPI_SUM,
                       own[me]);
        MPI_Win_unlock(target, own[me]);
        MPI_Fetch_and_op(&one, &before, MPI_LONG, target, me, MPI_SUM, common);
        MPI_Win_flush(target, common);
    }
    return NULL;
}

static void *churn(void *unused)
{
    for (int i = 0; i < rounds / 4; i++) {
        MPI_Win win;
        long *base;

        MPI_Win_allocate(4096, 8, MPI_INFO_NULL, aside, &base, &win);
        MPI_Win_free(&win);
    }
    return unused;
}

static long total(MPI_Win win, int word)
{
    long sum = 0, part;

    for (int t = 0; t < rma_size; t++) {
        MPI_Get(&part, 1, MPI_LONG, t, word, 1, MPI_LONG, win);
        MPI_Win_flush(t, win);
        sum += part;
    }
    return sum;
}

int main(int argc, char **argv)
{
    pthread_t thread[THREADS + 1];
    long *base;
    int provided;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rma_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &rma_size);
    EXPECT(provided == MPI_THREAD_MULTIPLE, "provided %d", provided);
    rounds = argc > 1 ? atoi(argv[1]) : 60;
    MPI_Comm_dup(MPI_COMM_WORLD, &aside);
    for (int i = 0; i < THREADS; i++) {
        MPI_Win_allocate(64, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &own[i]);
        memset(base, 0, 64);
    }
    MPI_Win_allocate(64, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &common);
    memset(base, 0, 64);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, common);
    for (size_t i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, update, (void *) i);
    pthread_create(&thread[THREADS], NULL, churn, NULL);
    for (int i = 0; i <= THREADS; i++)
        pthread_join(thread[i], NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < THREADS; i++) {
        MPI_Win_lock_all(0, own[i]);
        EXPECT(total(own[i], 0) == (long) rounds * rma_size, "own window %d",
               i);
        MPI_Win_unlock_all(own[i]);
        EXPECT(total(common, i) == (long) rounds * rma_size, "word %d", i);
    }
    MPI_Win_unlock_all(common);
    MPI_Win_free(&common);
    for (int i = 0; i < THREADS; i++)
        MPI_Win_free(&own[i]);
    MPI_Comm_free(&aside);
    return rma_end("threads");
}
