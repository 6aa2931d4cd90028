/* SPDX-License-Identifier: BSD-3-Clause */
/* Fence and post/start/complete/wait: rank 0 updates the target, which may
 * compute between its two calls. The time is that of rank 0's whole epoch. */
#include "bench.h"

static void issue_all(struct bench *bench)
{
    for (int i = 0; i < bench->opt.n; i++)
        issue(bench, (enum op) bench->opt.op, bench->target, i,
              bench->opt.bytes);
}

double fence_step(struct bench *bench)
{
    double begin = MPI_Wtime();

    MPI_Win_fence(MPI_MODE_NOPRECEDE, bench->win);
    if (bench->rank == 0)
        issue_all(bench);
    if (bench->rank == bench->target)
        compute(bench->opt.delay_us);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, bench->win);
    return MPI_Wtime() - begin;
}

static MPI_Group group_of(int rank)
{
    MPI_Group world, one;

    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &rank, &one);
    MPI_Group_free(&world);
    return one;
}

double pscw_step(struct bench *bench)
{
    double took = 0, begin;
    MPI_Group group;

    if (bench->rank == 0) {
        group = group_of(bench->target);
        begin = MPI_Wtime();
        MPI_Win_start(group, 0, bench->win);
        issue_all(bench);
        MPI_Win_complete(bench->win);
        took = MPI_Wtime() - begin;
        MPI_Group_free(&group);
    } else if (bench->rank == bench->target) {
        group = group_of(0);
        MPI_Win_post(group, 0, bench->win);
        compute(bench->opt.delay_us);
        MPI_Win_wait(bench->win);
        MPI_Group_free(&group);
    }
    return took;
}
