/* SPDX-License-Identifier: BSD-3-Clause */
/* Everyone to everyone: phases of a known script, and one phase for ever. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>

enum { ITERATIONS_LEAST = 5, ITERATIONS_MOST = 4096 };

static void talk(struct bench *bench, int n)
{
    bool fences = bench->opt.point == POINT_FENCE;

    for (int target = 0; target < bench->size; target++)
        for (int i = 0; i < n; i++) {
            issue(bench, target);
            if (!fences)
                MPI_Win_flush(target, bench->win);
        }
    if (fences)
        MPI_Win_fence(0, bench->win);
}

void iterate(struct bench *bench, int n, int us)
{
    talk(bench, n);
    compute(us);
    talk(bench, 1);
}

void meet(struct bench *bench, enum wish wish)
{
    if (bench->opt.hints != HINTS_PHASE)
        wish = WISH_NONE;
    if (wish != WISH_NONE || bench->opt.point == POINT_SYMMETRIC)
        MPI_Win_set_info(bench->win, bench->config[wish]);
}

/* A phase as the script has it. */
struct phase {
    const char *name;
    enum wish wish;
    int n, us, iterations;
};

/* Rank 0's time, from all having come to all having ended. */
static double run_phase(struct bench *bench, const struct phase *phase,
                        double *from)
{
    MPI_Barrier(MPI_COMM_WORLD);
    *from = MPI_Wtime() - bench->begin_s;
    for (int half = 0; half < bench->opt.halves; half++) {
        MPI_Barrier(MPI_COMM_WORLD);
        meet(bench, phase->wish);
        for (int i = 0; i < phase->iterations; i++) {
            iterate(bench, phase->n, phase->us);
            if (bench->opt.every == EVERY_ITERATION)
                meet(bench, WISH_NONE);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Wtime() - bench->begin_s - *from;
}

static void emit_phase(const struct bench *bench, const struct phase *phase,
                       int index, double from, double took)
{
    char part[32];

    snprintf(part, sizeof(part), "%d:%s", index, phase->name);
    emit(bench, part, "s", (const double[3]){took, from, from + took}, 1);
}

/* The dissertation's multi-phase experiment, figure 5.10. */
void phases_run(struct bench *bench)
{
    const struct options *o = &bench->opt;
    const struct phase script[] = {
        {"compute", WISH_ON, 1, o->compute_us, o->computing},
        {"talk", WISH_OFF, o->n, o->pause_us, o->talking},
    };
    double begin = MPI_Wtime(), from, sums[2] = {0, 0}, all, rest;

    for (int w = 0; w < o->windows; w++) {
        area_open(bench);
        for (int p = 0; p < 2; p++) {
            double took = run_phase(bench, &script[p], &from);

            emit_phase(bench, &script[p], 2 * w + p, from, took);
            sums[p] += took * 1e3;
        }
        area_close(bench);
    }
    all = (MPI_Wtime() - begin) * 1e3;
    rest = all - sums[0] - sums[1];
    emit(bench, "", "ms", (const double[3]){all, all, all}, 1);
    emit(bench, "compute", "ms", (const double[3]){sums[0], sums[0], sums[0]},
         1);
    emit(bench, "talk", "ms", (const double[3]){sums[1], sums[1], sums[1]}, 1);
    emit(bench, "rest", "ms", (const double[3]){rest, rest, rest}, 1);
}

static void step(struct bench *bench)
{
    iterate(bench, bench->opt.n, bench->opt.compute_us);
    if (bench->opt.every == EVERY_ITERATION)
        meet(bench, WISH_NONE);
}

/* `count` steps of everyone; returns how long they took, at rank 0. */
static double block(struct bench *bench, void (*its_step)(struct bench *bench),
                    int count)
{
    double begin;

    MPI_Barrier(MPI_COMM_WORLD);
    begin = MPI_Wtime();
    for (int i = 0; i < count; i++)
        its_step(bench);
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Wtime() - begin;
}

/* How many iterations take that long, when `count` of them took `took`. */
static int fitting(double ms, int count, double took)
{
    double fit = ms * 1e-3 * count / (took + 1e-9);
    int n = fit > ITERATIONS_MOST ? ITERATIONS_MOST : (int) fit;

    n = n < ITERATIONS_LEAST ? ITERATIONS_LEAST : n;
    MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return n;
}

void repeat(struct bench *bench, void (*its_step)(struct bench *bench))
{
    enum { BLOCKS = 3 };
    double samples[BLOCKS], end, took;
    int count = 2, go_on = 1;

    end = MPI_Wtime() + bench->opt.warm_ms * 1e-3;
    took = block(bench, its_step, count);
    while (go_on) {
        count = fitting(bench->run_ms / BLOCKS, count, took);
        took = block(bench, its_step, count);
        go_on = MPI_Wtime() < end;
        MPI_Bcast(&go_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    count = fitting(bench->run_ms / BLOCKS, count, took);
    for (int i = 0; i < BLOCKS; i++)
        samples[i] = block(bench, its_step, count) / count * 1e6;
    emit_samples(bench, "", "us", samples, BLOCKS);
}

/* One kind of iteration only. */
void steady_run(struct bench *bench)
{
    area_open(bench);
    repeat(bench, step);
    area_close(bench);
}
