/* SPDX-License-Identifier: BSD-3-Clause */
/* What Test and Wait cost beside receives that nobody answers. */
#include "bench.h"

#include <math.h>
#include <stdlib.h>

enum { STEPS = 10, WARM_UP = 20, TAG_NEVER = 1 };

/* An exchange with oneself; or of it the first Test, which says no. */
static double step(struct bench *bench, int number)
{
    MPI_Request requests[2];
    int flag = 0, bytes = bench->opt.bytes;
    double begin = now(), seconds;

    mark(bench, 1, number);
    MPI_Irecv(bench->in, bytes, MPI_BYTE, bench->peer, 0, MPI_COMM_WORLD,
              &requests[0]);
    if (bench->opt.ask == ASK_FIRST)
        MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
    seconds = now() - begin;
    MPI_Isend(bench->out, bytes, MPI_BYTE, bench->peer, 0, MPI_COMM_WORLD,
              &requests[1]);
    while (bench->opt.ask == ASK_TEST && !flag)
        MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
    wait_all(2, requests);
    check(bench, bench->in, bench->peer, 0, number, false);
    return bench->opt.ask == ASK_FIRST ? seconds : now() - begin;
}

/* One that is not answered is tested again and again. */
static double again(MPI_Request *request)
{
    double begin = now();
    int flag;

    MPI_Test(request, &flag, MPI_STATUS_IGNORE);
    return now() - begin - clock_cost();
}

static double steps(struct bench *bench, MPI_Request *never, int first)
{
    double sum = 0;

    for (int i = 0; i < STEPS; i++)
        sum += bench->opt.ask == ASK_AGAIN ? again(never)
                                           : step(bench, first + i);
    return sum / STEPS;
}

/* The last of the receives is the one that is tested again. */
void pending_run(struct bench *bench, struct samples *samples)
{
    int others = bench->opt.pending + 1, never = 0, n;
    MPI_Request *requests = calloc((size_t) others, sizeof(MPI_Request));
    double least = 1;

    if (!requests)
        MPI_Abort(MPI_COMM_WORLD, 3);
    for (int i = 0; i < others; i++)
        MPI_Irecv(&never, 1, MPI_INT, bench->rank, TAG_NEVER, MPI_COMM_WORLD,
                  &requests[i]);
    for (int i = 0; i < WARM_UP; i++)
        least = fmin(least,
                     STEPS * steps(bench, &requests[others - 1], STEPS * i));
    n = plan(bench, least);
    for (int i = 0; i < n; i++)
        add(samples, steps(bench, &requests[others - 1], STEPS * i));
    for (int i = 0; i < others; i++) {
        MPI_Cancel(&requests[i]);
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    }
    free(requests);
}
