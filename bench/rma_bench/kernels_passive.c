/* SPDX-License-Identifier: BSD-3-Clause */
/* Passive target: the origin acts, the target knows nothing of it. */
#include "bench.h"

enum { SETTLE_US = 200 };

void passive_open(struct bench *bench)
{
    area_open(bench);
    MPI_Win_lock_all(0, bench->win);
    MPI_Barrier(MPI_COMM_WORLD);
}

void passive_close(struct bench *bench)
{
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_unlock_all(bench->win);
    area_close(bench);
}

static void issue_all(struct bench *bench)
{
    for (int i = 0; i < bench->opt.n; i++)
        issue(bench, (enum op) bench->opt.op, bench->target, i,
              bench->opt.bytes);
}

double flush_step(struct bench *bench)
{
    double begin = MPI_Wtime();

    issue_all(bench);
    MPI_Win_flush(bench->target, bench->win);
    return MPI_Wtime() - begin;
}

/* The target leaves MPI for a while. The origin begins a little later, so that
 * the target is surely away, not on its way out of the barrier. */
double stall_step(struct bench *bench)
{
    double took = 0;
    int flag;

    MPI_Barrier(MPI_COMM_WORLD);
    if (bench->rank == bench->target) {
        compute(bench->opt.delay_us);
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag,
                   MPI_STATUS_IGNORE);
    } else if (bench->rank == 0) {
        compute(SETTLE_US);
        took = flush_step(bench);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return took;
}

double lock_step(struct bench *bench)
{
    int assert = bench->opt.nocheck ? MPI_MODE_NOCHECK : 0;
    double begin = MPI_Wtime();

    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, bench->target, assert, bench->win);
    issue_all(bench);
    MPI_Win_unlock(bench->target, bench->win);
    return MPI_Wtime() - begin;
}

double lockall_step(struct bench *bench)
{
    int assert = bench->opt.nocheck ? MPI_MODE_NOCHECK : 0;
    double begin = MPI_Wtime();

    MPI_Win_lock_all(assert, bench->win);
    issue_all(bench);
    MPI_Win_unlock_all(bench->win);
    return MPI_Wtime() - begin;
}
