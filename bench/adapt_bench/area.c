/* SPDX-License-Identifier: BSD-3-Clause */
/* The window that kernels use, the operations on it, and whether they arrived:
 * a fast kernel that loses updates would look good.
 *
 * As in the dissertation an operation takes 8 doubles without gaps at the
 * origin to 2 x 2 x 2 of 8 x 8 x 8 at the target; x makes rows longer. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROWS = 2, SIDE = 8 };

static const double PATTERN = 2.0; /* what put writes and get finds */

void compute(int us)
{
    const struct timespec length = {us / 1000000, us % 1000000 * 1000L};

    if (us > 0)
        nanosleep(&length, NULL);
}

/* Of the longest side of the window's matrix. */
static int length(const struct options *o)
{
    return o->x <= 2 ? SIDE : o->x + SIDE;
}

int area_doubles(const struct options *options)
{
    return ROWS * ROWS * options->x;
}

static MPI_Datatype make_type(const struct options *o)
{
    const int sizes[] = {SIDE, SIDE, length(o)};
    const int parts[] = {ROWS, ROWS, o->x}, starts[] = {0, 0, 0};
    MPI_Datatype type;

    if (o->contig)
        MPI_Type_contiguous(area_doubles(o), MPI_DOUBLE, &type);
    else
        MPI_Type_create_subarray(3, sizes, parts, starts, MPI_ORDER_C,
                                 MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    return type;
}

static void make_infos(MPI_Info infos[3])
{
    static const char *const said[] = {NULL, "off", "on"};

    for (int i = 0; i < 3; i++) {
        MPI_Info_create(&infos[i]);
        MPI_Info_set(infos[i], "symmetric", "true");
        if (said[i])
            MPI_Info_set(infos[i], "async_config", said[i]);
    }
}

static double *buffer(int count, double value)
{
    double *memory = malloc((size_t) count * sizeof(*memory));

    if (!memory)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < count; i++)
        memory[i] = value;
    return memory;
}

static int window_doubles(const struct options *o)
{
    return SIDE * SIDE * length(o);
}

void area_open(struct bench *bench)
{
    const struct options *o = &bench->opt;
    MPI_Info info = MPI_INFO_NULL;
    int count = window_doubles(o);

    if (o->hints == HINTS_WINDOW) {
        MPI_Info_create(&info);
        MPI_Info_set(info, "async_config", "on");
    }
    bench->from = buffer(area_doubles(o), o->op == OP_ACC ? 1.0 : PATTERN);
    bench->into = buffer(area_doubles(o), 0);
    bench->issued = calloc((size_t) bench->size, sizeof(*bench->issued));
    bench->got = false;
    bench->there = make_type(o);
    make_infos(bench->config);
    MPI_Win_allocate(count * (MPI_Aint) sizeof(double), sizeof(double), info,
                     MPI_COMM_WORLD, &bench->base, &bench->win);
    for (int i = 0; i < count; i++)
        bench->base[i] = o->op == OP_GET ? PATTERN : 0;
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    if (o->point == POINT_FENCE) {
        MPI_Win_fence(0, bench->win);
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_lock_all(0, bench->win);
    }
}

void issue(struct bench *bench, int target)
{
    int count = area_doubles(&bench->opt);

    switch ((enum op) bench->opt.op) {
    case OP_PUT:
        MPI_Put(bench->from, count, MPI_DOUBLE, target, 0, 1, bench->there,
                bench->win);
        break;
    case OP_GET:
        MPI_Get(bench->into, count, MPI_DOUBLE, target, 0, 1, bench->there,
                bench->win);
        bench->got = true;
        break;
    case OP_ACC:
        MPI_Accumulate(bench->from, count, MPI_DOUBLE, target, 0, 1,
                       bench->there, MPI_SUM, bench->win);
        break;
    }
    bench->issued[target]++;
}

static void expect(const struct bench *bench, const char *what, double value,
                   double expected)
{
    if (value == expected)
        return;
    fprintf(stderr, "adapt_app: rank %d: %s %g instead of %g\n", bench->rank,
            what, value, expected);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* The epoch is over and everyone has come: this rank's memory has it all. */
static void check(const struct bench *bench)
{
    long *all = calloc((size_t) bench->size, sizeof(*all));
    double sum = 0;

    MPI_Allreduce(bench->issued, all, bench->size, MPI_LONG, MPI_SUM,
                  MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, bench->rank, 0, bench->win);
    for (int i = 0; i < window_doubles(&bench->opt); i++)
        sum += bench->base[i];
    MPI_Win_unlock(bench->rank, bench->win);
    if (bench->opt.op == OP_ACC)
        expect(bench, "sum", sum,
               (double) all[bench->rank] * area_doubles(&bench->opt));
    if (bench->opt.op == OP_PUT && all[bench->rank])
        expect(bench, "put left", sum, PATTERN * area_doubles(&bench->opt));
    if (bench->got)
        expect(bench, "get brought", bench->into[area_doubles(&bench->opt) - 1],
               PATTERN);
    free(all);
}

void area_close(struct bench *bench)
{
    if (bench->opt.point == POINT_FENCE)
        MPI_Win_fence(MPI_MODE_NOSUCCEED, bench->win);
    else
        MPI_Win_unlock_all(bench->win);
    MPI_Barrier(MPI_COMM_WORLD);
    check(bench);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&bench->win);
    MPI_Type_free(&bench->there);
    for (int i = 0; i < 3; i++)
        MPI_Info_free(&bench->config[i]);
    free(bench->from);
    free(bench->into);
    free(bench->issued);
}
