/* SPDX-License-Identifier: BSD-3-Clause */
/* usage: rma_app [--ms N] [--threads] KERNEL[,KEY=VALUE...] ...
 *
 *   --ms N      about how long to repeat each kernel (100 ms)
 *   --threads   initialise with MPI_THREAD_MULTIPLE
 *
 * Prints a line for each kernel: its text, unit, median, least, greatest and
 * number of steps, tabs between. Ends itself when it takes too long. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum {
    WARM_UP = 3,
    STEPS_LEAST = 5,
    STEPS_MOST = 5000,
    LIMIT_S = 240,
    NAP_US = 5000, /* of a target that sleeps, between two looks into MPI */
    TAG_DONE = 99,
};

static int compare(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;

    return (x > y) - (x < y);
}

/* One step and how long everything around it took, too. */
static double whole_step(const struct kernel *kernel, struct bench *bench,
                         double *step_s)
{
    double begin = MPI_Wtime();

    *step_s = kernel->step(bench);
    return MPI_Wtime() - begin;
}

/* How many steps fit, and how many to make before those that count. */
struct plan {
    int steps, warm;
};

static struct plan plan_steps(const struct kernel *kernel, struct bench *bench,
                              double ms)
{
    double least = 1e9, step_s, took, steps;

    if (kernel->once)
        return (struct plan){1, 0};
    for (int i = 0; i < WARM_UP; i++) {
        took = whole_step(kernel, bench, &step_s);
        least = took < least ? took : least;
    }
    steps = ms * 1e-3 / (least + 1e-9);
    if (steps < STEPS_LEAST)
        steps = STEPS_LEAST;
    return (struct plan){
        .steps = steps > STEPS_MOST ? STEPS_MOST : (int) steps,
        .warm = (int) (bench->opt.warm_ms * 1e-3 / (least + 1e-9)),
    };
}

/* Wait for rank 0 in the way the kernel asks its target to. */
static void stand_by(const struct bench *bench)
{
    MPI_Request request;
    int done = 0;

    MPI_Irecv(NULL, 0, MPI_BYTE, 0, TAG_DONE, MPI_COMM_WORLD, &request);
    while (!done) {
        if (bench->opt.sleep)
            compute(NAP_US);
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
}

static void release(const struct bench *bench)
{
    for (int i = 1; i < bench->size; i++)
        MPI_Send(NULL, 0, MPI_BYTE, i, TAG_DONE, MPI_COMM_WORLD);
}

/* All steps of a kernel; the samples that count end at rank 0. */
static int run_steps(const struct kernel *kernel, struct bench *bench,
                     double ms, double *samples)
{
    static double mine[STEPS_MOST];
    struct plan plan;
    int n;

    if (kernel->timed == ORIGIN_ALONE && bench->rank > 0) {
        stand_by(bench);
        return 0;
    }
    plan = plan_steps(kernel, bench, ms);
    if (kernel->timed != ORIGIN_ALONE)
        MPI_Bcast(&plan, 2, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; i < plan.warm; i++)
        (void) kernel->step(bench);
    n = plan.steps;
    for (int i = 0; i < n; i++)
        mine[i] = kernel->step(bench);
    switch (kernel->timed) {
    case ORIGIN_ALONE:
        release(bench);
        memcpy(samples, mine, (size_t) n * sizeof(*mine));
        break;
    case ORIGIN:
        memcpy(samples, mine, (size_t) n * sizeof(*mine));
        break;
    case TARGET: /* the others measured nothing: 0 */
    case SLOWEST:
        MPI_Reduce(mine, samples, n, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        break;
    }
    return n;
}

static void run_kernel(const char *spec, struct bench *bench, double ms)
{
    const struct kernel *kernel = options_read(spec, &bench->opt);
    static double samples[STEPS_MOST];
    double factor;
    int n;

    bench->target = bench->opt.self || bench->size == 1 ? 0 : 1;
    bench->got = bench->put = false;
    kernel->open(bench);
    n = run_steps(kernel, bench, ms, samples);
    kernel->close(bench);
    if (bench->rank != 0)
        return;
    factor = strcmp(kernel->unit, "us") == 0 ? 1e6 : 1;
    qsort(samples, (size_t) n, sizeof(*samples), compare);
    printf("%s\t%s\t%.3f\t%.3f\t%.3f\t%d\n", spec, kernel->unit,
           samples[n / 2] * factor, samples[0] * factor,
           samples[n - 1] * factor, n);
    fflush(stdout);
}

/* Index on the node, of every rank. */
static int *find_locals(int rank, int size, int *local)
{
    int *all = malloc((size_t) size * sizeof(*all));
    MPI_Comm node;

    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank,
                        MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, local);
    MPI_Comm_free(&node);
    MPI_Allgather(local, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    return all;
}

int main(int argc, char **argv)
{
    struct bench bench = {0};
    double ms = 100;
    int first = 1, level = MPI_THREAD_SINGLE, provided, *locals;

    for (; first < argc && argv[first][0] == '-'; first++) {
        if (strcmp(argv[first], "--threads") == 0)
            level = MPI_THREAD_MULTIPLE;
        else if (strcmp(argv[first], "--ms") == 0 && first + 1 < argc)
            ms = atof(argv[++first]);
    }
    alarm(LIMIT_S);
    prctl(PR_SET_TIMERSLACK, 1); /* sleeps as long as they say */
    MPI_Init_thread(&argc, &argv, level, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &bench.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &bench.size);
    bench.locals = locals = find_locals(bench.rank, bench.size, &bench.local);
    for (int i = first; i < argc; i++)
        run_kernel(argv[i], &bench, ms);
    MPI_Finalize();
    free(locals);
    return 0;
}
