/* SPDX-License-Identifier: BSD-3-Clause */
/* The window that kernels use, the operations on it, and whether they arrived:
 * a fast kernel that loses updates would look good. */
#include "bench.h"
#include "bench/buffer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WALK = 193 }; /* a prime: operations visit the area out of order */

static const double PATTERN = 2.0; /* what put writes and get finds */

void compute(int us)
{
    const struct timespec length = {us / 1000000, us % 1000000 * 1000L};

    if (us > 0)
        nanosleep(&length, NULL);
}

static long larger(long a, long b)
{
    return a > b ? a : b;
}

/* Sizes that 16 divides: MPICH 4.0.2 misaligns others. */
static long padded(long bytes)
{
    return (bytes + 15) / 16 * 16;
}

/* Whether this kernel issues that operation at all. */
static bool uses(const struct options *o, bool accumulate)
{
    bool counted = o->hot_acc || o->hot_put || o->acc || o->put;

    if (!counted)
        return (o->op == OP_ACC) == accumulate;
    return accumulate ? o->hot_acc || o->acc : o->hot_put || o->put;
}

/* Bytes of an area of that rank: only each node's first has the large one. */
static long area_bytes(const struct bench *bench, int rank)
{
    const struct options *o = &bench->opt;
    bool hot = o->hot_acc || o->hot_put;
    long one = padded(o->bytes);

    if (!hot)
        return larger(one, o->area);
    return bench->locals[rank]
               ? one
               : larger(larger(one, padded(o->hot_bytes)), o->area);
}

MPI_Info area_info(const struct options *options)
{
    char text[sizeof(options->info)], *rest = text, *word;
    MPI_Info info;

    if (!options->info[0])
        return MPI_INFO_NULL;
    strcpy(text, options->info);
    MPI_Info_create(&info);
    while ((word = strsep(&rest, "+"))) {
        char *value = strchr(word, ':');

        if (value) {
            *value++ = '\0';
            /* A comma separates our own keys: epochs are given with '.'. */
            for (char *dot = value; (dot = strchr(dot, '.')); *dot = ',')
                ;
            MPI_Info_set(info, word, value);
        }
    }
    return info;
}

void area_open(struct bench *bench)
{
    const struct options *o = &bench->opt;
    MPI_Info info = area_info(o);
    long most = padded(larger(o->bytes, o->hot_bytes));
    long area = area_bytes(bench, bench->rank);

    bench->acc_bytes = uses(o, true) ? area : 0;
    bench->rma_bytes = uses(o, false) ? area : 0;
    bench->from = buffer_pages((size_t) most);
    bench->into = buffer_pages((size_t) most);
    for (long i = 0; i < most / 8; i++)
        bench->from[i] = uses(o, false) ? PATTERN : 1.0;
    bench->issued = calloc((size_t) bench->size, sizeof(*bench->issued));
    MPI_Win_allocate(bench->acc_bytes + bench->rma_bytes, 1, info,
                     MPI_COMM_WORLD, &bench->base, &bench->win);
    /* Only where it matters: no_load_store windows are not touched. */
    for (long i = 0; i < bench->acc_bytes / 8; i++)
        bench->base[i] = 0;
    for (long i = 0; o->op == OP_GET && i < bench->rma_bytes / 8; i++)
        bench->base[bench->acc_bytes / 8 + i] = PATTERN;
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    MPI_Barrier(MPI_COMM_WORLD);
}

void issue(struct bench *bench, enum op op, int target, int i, int bytes)
{
    long area = area_bytes(bench, target), blocks = area / bytes;
    int count = bytes / 8;
    MPI_Aint at = blocks > 1 ? (long) i * WALK % blocks * bytes : 0;

    if (op != OP_ACC && uses(&bench->opt, true))
        at += area; /* behind the target's accumulate area */
    switch (op) {
    case OP_PUT:
        MPI_Put(bench->from, count, MPI_DOUBLE, target, at, count, MPI_DOUBLE,
                bench->win);
        bench->put = true;
        break;
    case OP_GET:
        MPI_Get(bench->into, count, MPI_DOUBLE, target, at, count, MPI_DOUBLE,
                bench->win);
        bench->got = true;
        break;
    case OP_ACC:
        MPI_Accumulate(bench->from, count, MPI_DOUBLE, target, at, count,
                       MPI_DOUBLE, MPI_SUM, bench->win);
        bench->issued[target] += count;
        break;
    case OPS:
        break;
    }
}

static void expect(const struct bench *bench, const char *what, double value,
                   double expected)
{
    if (value == expected)
        return;
    fprintf(stderr, "rma_app: rank %d: %s %g instead of %g\n", bench->rank,
            what, value, expected);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* A copy of this rank's window, without a load of its own. */
static double *read_window(const struct bench *bench)
{
    int bytes = (int) (bench->acc_bytes + bench->rma_bytes);
    double *copy = buffer_pages((size_t) (bytes + 16));

    MPI_Win_lock(MPI_LOCK_SHARED, bench->rank, 0, bench->win);
    MPI_Get(copy, bytes, MPI_BYTE, bench->rank, 0, bytes, MPI_BYTE, bench->win);
    MPI_Win_unlock(bench->rank, bench->win);
    return copy;
}

/* Is everything here that was sent here? Of put, only the place of a step's
 * first operation tells. */
static void check(const struct bench *bench)
{
    long *all = calloc((size_t) bench->size, sizeof(*all));
    double *copy = read_window(bench), sum = 0;
    int put = bench->put, any_put;

    MPI_Allreduce(bench->issued, all, bench->size, MPI_LONG, MPI_SUM,
                  MPI_COMM_WORLD);
    MPI_Allreduce(&put, &any_put, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    for (long i = 0; i < bench->acc_bytes / 8; i++)
        sum += copy[i];
    if (bench->acc_bytes)
        expect(bench, "sum", sum, (double) all[bench->rank] * bench->from[0]);
    if (any_put && bench->rank == bench->target)
        expect(bench, "put left", copy[bench->acc_bytes / 8], PATTERN);
    if (bench->got)
        expect(bench, "get brought", bench->into[bench->opt.bytes / 8 - 1],
               PATTERN);
    free(copy);
    free(all);
}

void area_close(struct bench *bench)
{
    MPI_Barrier(MPI_COMM_WORLD);
    check(bench);
    MPI_Win_free(&bench->win);
    free(bench->from);
    free(bench->into);
    free(bench->issued);
}
