/* SPDX-License-Identifier: BSD-3-Clause */
/* What the calls cost at which a window may be switched. */
#include "bench.h"

enum { CALLS = 200, WINDOWS = 20 };

/* Of everyone's i-th sample the greatest, at rank 0. */
static void emit_slowest(struct bench *bench, double *mine, int count)
{
    double all[CALLS];

    MPI_Reduce(mine, all, count, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    emit_samples(bench, "", "us", all, count);
}

void alloc_run(struct bench *bench)
{
    double samples[WINDOWS], begin;
    MPI_Win win;
    void *base;

    for (int i = -3; i < WINDOWS; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        begin = MPI_Wtime();
        MPI_Win_allocate(4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
        if (i >= 0)
            samples[i] = (MPI_Wtime() - begin) * 1e6;
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_free(&win);
    }
    emit_slowest(bench, samples, WINDOWS);
}

/* Calls back to back: each has a barrier inside, so that the mean of many is
 * what one costs. */
static void calls(struct bench *bench, void (*call)(struct bench *bench))
{
    enum { PER_BLOCK = 50, BLOCKS = 9 };
    double samples[BLOCKS], begin;

    for (int b = -1; b < BLOCKS; b++) {
        MPI_Barrier(MPI_COMM_WORLD);
        begin = MPI_Wtime();
        for (int i = 0; i < PER_BLOCK; i++)
            call(bench);
        if (b >= 0)
            samples[b] = (MPI_Wtime() - begin) / PER_BLOCK * 1e6;
    }
    emit_slowest(bench, samples, BLOCKS);
}

static void fence(struct bench *bench)
{
    MPI_Win_fence(0, bench->win);
}

static void symmetric(struct bench *bench)
{
    meet(bench, WISH_NONE);
}

void fence_run(struct bench *bench)
{
    bench->opt.point = POINT_FENCE;
    area_open(bench);
    calls(bench, fence);
    area_close(bench);
}

void symmetric_run(struct bench *bench)
{
    bench->opt.point = POINT_SYMMETRIC;
    area_open(bench);
    calls(bench, symmetric);
    area_close(bench);
}
