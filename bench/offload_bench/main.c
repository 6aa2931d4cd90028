/* SPDX-License-Identifier: BSD-3-Clause */
/* usage: offload_app [--ms N] [--near NS] [--patience S] [--threads]
 *                     KERNEL[,KEY=VALUE...] ...
 *
 *   --ms N        about how long to repeat each kernel (100 ms)
 *   --near NS     begin each when a word to another CPU and back takes less
 *   --patience S  or after so long (3 s)
 *   --threads     initialise with MPI_THREAD_MULTIPLE
 *
 * Prints a line for each kernel: its text, unit, median, least, greatest and
 * number of samples, tabs between. Ends itself when one takes too long. */
#include "bench.h"
#include "bench/buffer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { STEPS_LEAST = 5, CLOCK_READS = 1001, LIMIT_S = 240 };

double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double) t.tv_sec + 1e-9 * (double) t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;

    return (x > y) - (x < y);
}

double median(double *values, int n)
{
    qsort(values, (size_t) n, sizeof(*values), compare);
    return n ? values[n / 2] : 0;
}

void add(struct samples *samples, double value)
{
    if (samples->n < SAMPLES_MOST)
        samples->at[samples->n++] = value;
}

double clock_cost(void)
{
    static double cost;
    double reads[CLOCK_READS];

    if (cost == 0) {
        for (int i = 0; i < CLOCK_READS; i++) {
            double begin = now();

            reads[i] = now() - begin;
        }
        cost = median(reads, CLOCK_READS);
    }
    return cost;
}

double compute(const struct bench *bench, double seconds)
{
    double begin = now(), whole = floor(seconds);
    struct timespec nap = {(time_t) whole, (long) ((seconds - whole) * 1e9)};

    if (bench->opt.spin) {
        while (now() - begin < seconds)
            continue;
    } else {
        nanosleep(&nap, NULL);
    }
    return now() - begin;
}

int plan(const struct bench *bench, double step_s)
{
    int n = (int) fmin(bench->ms * 1e-3 / (step_s + 1e-9), SAMPLES_MOST);

    n = n < STEPS_LEAST ? STEPS_LEAST : n;
    MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return n;
}

static void run_kernel(const char *spec, struct bench *bench)
{
    static struct samples samples;
    const struct kernel *kernel = options_read(spec, &bench->opt);
    double factor = strcmp(kernel->unit, "us") == 0 ? 1e6 : 1, middle;
    int blocks = bench->opt.window > bench->size ? bench->opt.window
                                                 : bench->size;
    size_t bytes = (size_t) blocks * (size_t) bench->opt.bytes;

    bench->peer = bench->opt.self || bench->size == 1
                      ? bench->rank
                      : (bench->rank ^ 1) % bench->size;
    bench->out = buffer_pages(bytes);
    bench->in = buffer_pages(bytes);
    fill(bench, blocks);
    samples.n = 0;
    alarm(LIMIT_S + (unsigned) bench->patience_s);
    if (bench->near_s > 0 && bench->rank == 0)
        await_near(bench);
    MPI_Barrier(MPI_COMM_WORLD);
    kernel->run(bench, &samples);
    MPI_Barrier(MPI_COMM_WORLD);
    free(bench->out);
    free(bench->in);
    if (bench->rank != 0)
        return;
    middle = median(samples.at, samples.n);
    printf("%s\t%s\t%.4f\t%.4f\t%.4f\t%d\n", spec, kernel->unit,
           middle * factor, samples.at[0] * factor,
           samples.at[samples.n - 1] * factor, samples.n);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    struct bench bench = {.ms = 100, .patience_s = 3};
    int first = 1, level = MPI_THREAD_SINGLE, provided;

    for (; first < argc && argv[first][0] == '-'; first++) {
        if (strcmp(argv[first], "--threads") == 0)
            level = MPI_THREAD_MULTIPLE;
        else if (strcmp(argv[first], "--ms") == 0 && first + 1 < argc)
            bench.ms = atof(argv[++first]);
        else if (strcmp(argv[first], "--near") == 0 && first + 1 < argc)
            bench.near_s = atof(argv[++first]) * 1e-9;
        else if (strcmp(argv[first], "--patience") == 0 && first + 1 < argc)
            bench.patience_s = atof(argv[++first]);
    }
    alarm(LIMIT_S);
    prctl(PR_SET_TIMERSLACK, 1); /* sleeps as long as they say */
    MPI_Init_thread(&argc, &argv, level, &provided);
    if (provided < level) {
        fprintf(stderr, "offload_app: no MPI_THREAD_MULTIPLE\n");
        return 1;
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &bench.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &bench.size);
    for (int i = first; i < argc; i++)
        run_kernel(argv[i], &bench);
    MPI_Finalize();
    return 0;
}
