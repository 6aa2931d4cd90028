/* SPDX-License-Identifier: BSD-3-Clause */
/* Who is delayed by a rank that begins a nonblocking collective and then
 * computes, that is, sleeps outside MPI: with a tree those behind it, unless
 * somebody makes progress for it (Nishtala 2009, sections 5.1.5 and 8.3.1:
 * attentiveness). Counts the ranks beside it that take longer than half of its
 * computation. */
#include "bench.h"

#include <stdlib.h>
#include <time.h>

enum { US_PER_S = 1000000, NS_PER_US = 1000 };

struct late {
    int slow; /* who computes: in the middle, where trees branch */
    double *in, *out;
    size_t n; /* doubles of a message */
};

static void compute(int us)
{
    const struct timespec length = {us / US_PER_S,
                                    (long) (us % US_PER_S) * NS_PER_US};

    nanosleep(&length, NULL);
}

static void *late_open(struct bench *bench)
{
    struct late *late = zeros(1, sizeof(*late));
    size_t size = (size_t) bench->size;

    need(bench, bench->size > 2, "somebody must stand behind another");
    late->slow = bench->size / 2;
    late->n = (size_t) bench->opt.n;
    late->in = zeros(late->n * size, sizeof(double));
    late->out = zeros(late->n * size, sizeof(double));
    return late;
}

static void late_reset(struct bench *bench, void *state)
{
    struct late *late = state;

    for (size_t i = 0; i < late->n * (size_t) bench->size; i++) {
        late->in[i] = bench->rank + 1;
        late->out[i] = bench->rank == 0 ? 1 : 0;
    }
}

static void begin(const struct bench *bench, const struct late *late,
                  MPI_Request *request)
{
    int n = (int) late->n;

    if (bench->opt.how == HOW_BCAST)
        MPI_Ibcast(late->out, n, MPI_DOUBLE, 0, MPI_COMM_WORLD, request);
    else if (bench->opt.how == HOW_SUM)
        MPI_Ireduce(late->in, late->out, n, MPI_DOUBLE, MPI_SUM, 0,
                    MPI_COMM_WORLD, request);
    else
        MPI_Ialltoall(late->in, n, MPI_DOUBLE, late->out, n, MPI_DOUBLE,
                      MPI_COMM_WORLD, request);
}

static void late_run(struct bench *bench, void *state)
{
    struct late *late = state;
    double half = bench->opt.compute_us / 2.0 / US_PER_S, at = MPI_Wtime();
    MPI_Request request;

    SPEND(bench, IN_COLL, begin(bench, late, &request));
    if (bench->rank == late->slow)
        compute(bench->opt.compute_us);
    SPEND(bench, IN_COLL, wait_all(1, &request));
    bench->count = bench->rank != late->slow && MPI_Wtime() - at > half;
}

/* What number i of the result is to be; -1: anything. */
static double expected(const struct bench *bench, const struct late *late,
                       size_t i)
{
    if (bench->opt.how == HOW_EXCHANGE)
        return (double) (i / late->n) + 1;
    if (i >= late->n || (bench->opt.how == HOW_SUM && bench->rank != 0))
        return -1;
    return bench->opt.how == HOW_BCAST ? 1
                                       : bench->size * (bench->size + 1) / 2.0;
}

static struct verdict late_check(struct bench *bench, void *state)
{
    struct late *late = state;
    double wrong = 0;

    for (size_t i = 0; i < late->n * (size_t) bench->size; i++) {
        double right = expected(bench, late, i);

        wrong += right >= 0 && late->out[i] != right;
    }
    return (struct verdict){wrong, 0};
}

static void late_close(void *state)
{
    struct late *late = state;

    free(late->in);
    free(late->out);
    free(late);
}

const struct app late_app = {.name = "late",
                             .counted = "delayed",
                             .first = HOW_BCAST,
                             .last = HOW_EXCHANGE,
                             .open = late_open,
                             .reset = late_reset,
                             .run = late_run,
                             .check = late_check,
                             .close = late_close};
