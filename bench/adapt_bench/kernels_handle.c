/* SPDX-License-Identifier: BSD-3-Clause */
/* What one operation takes in all, and what of it the executor: from rank 0 to
 * rank 1, the dissertation's table 5.1. */
#include "bench.h"

#include <time.h>

enum {
    STEPS = 31,
    WARM_UP = 3,
    OPS_MOST = 1000, /* of a step */
    SETTLE_US = 300, /* the origin has queued its operations */
    NAP_US = 5000,
    TAG = 7,
};

/* Operation and flush, n times; what one of them takes. */
static double total_us(struct bench *bench, int n)
{
    double begin = MPI_Wtime();

    for (int k = 0; k < n; k++) {
        issue(bench, 1);
        MPI_Win_flush(1, bench->win);
    }
    return (MPI_Wtime() - begin) * 1e6 / n;
}

/* In MPI without a break, or now and then. */
static void stand_by(const struct bench *bench)
{
    MPI_Request request;
    int done = 0;

    MPI_Irecv(NULL, 0, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, &request);
    while (!done) {
        if (bench->opt.sleep)
            compute(NAP_US);
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
}

/* Operations while the target does nothing else. */
void total_run(struct bench *bench)
{
    double samples[STEPS], fit, us = 0;
    int n;

    area_open(bench);
    if (bench->rank == 0) {
        for (int i = 0; i < WARM_UP; i++)
            us = total_us(bench, 10);
        fit = bench->run_ms * 1e3 / STEPS / us;
        n = fit < 1 ? 1 : fit > OPS_MOST ? OPS_MOST : (int) fit;
        for (int i = 0; i < STEPS; i++)
            samples[i] = total_us(bench, n);
        MPI_Send(NULL, 0, MPI_BYTE, 1, TAG, MPI_COMM_WORLD);
    } else if (bench->rank == 1) {
        stand_by(bench);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    emit_samples(bench, "", "us", samples, STEPS);
    area_close(bench);
}

static double cpu_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double) now.tv_sec * 1e6 + (double) now.tv_nsec * 1e-3;
}

/* `queued` operations wait while the target is away; what it then takes to
 * come to the message behind them. */
static double drain(struct bench *bench, int queued)
{
    double took = 0;

    MPI_Barrier(MPI_COMM_WORLD);
    if (bench->rank == 0) {
        for (int k = 0; k < queued; k++)
            issue(bench, 1);
        MPI_Win_flush(1, bench->win);
        MPI_Send(NULL, 0, MPI_BYTE, 1, TAG, MPI_COMM_WORLD);
    } else if (bench->rank == 1) {
        compute(SETTLE_US + 20 * queued);
        took = cpu_us();
        MPI_Recv(NULL, 0, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        took = cpu_us() - took;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return took;
}

/* What each of them costs the target: the slope between half and all. */
void handle_run(struct bench *bench)
{
    double mine[STEPS], all[STEPS], half, whole;
    int queued = bench->opt.queued;

    area_open(bench);
    for (int i = -WARM_UP; i < STEPS; i++) {
        half = drain(bench, queued / 2);
        whole = drain(bench, queued);
        if (i >= 0)
            mine[i] = (whole - half) / (queued - queued / 2);
    }
    MPI_Reduce(mine, all, STEPS, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    emit_samples(bench, "", "us", all, STEPS);
    area_close(bench);
}
