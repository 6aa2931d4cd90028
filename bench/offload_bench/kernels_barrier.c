/* SPDX-License-Identifier: BSD-3-Clause */
/* A call that waits for all ranks, while other threads of each wait, too. */
#include "bench.h"

#include <math.h>
#include <pthread.h>

enum { WARM_UP = 3, BARRIERS = 20, LISTENERS_MOST = 64, TAG_END = 2 };

static void *listen_for_end(void *unused)
{
    char end;

    MPI_Recv(&end, 1, MPI_BYTE, MPI_ANY_SOURCE, TAG_END, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    return unused;
}

static double barrier(int times)
{
    double begin = now();

    for (int i = 0; i < times; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    return (now() - begin) / times;
}

/* MPI_Barrier by one thread; opt.threads - 1 others are in a receive. */
void barrier_run(struct bench *bench, struct samples *samples)
{
    pthread_t listeners[LISTENERS_MOST];
    int many = bench->opt.threads - 1, n;
    double least = 1;

    if (many < 0 || many > LISTENERS_MOST)
        MPI_Abort(MPI_COMM_WORLD, 3);
    for (int i = 0; i < many; i++)
        pthread_create(&listeners[i], NULL, listen_for_end, NULL);
    for (int i = 0; i < WARM_UP; i++)
        least = fmin(least, BARRIERS * barrier(BARRIERS));
    n = plan(bench, least);
    for (int i = 0; i < n; i++)
        add(samples, barrier(BARRIERS));
    for (int i = 0; i < many; i++)
        MPI_Send("", 1, MPI_BYTE, bench->rank, TAG_END, MPI_COMM_WORLD);
    for (int i = 0; i < many; i++)
        pthread_join(listeners[i], NULL);
}
