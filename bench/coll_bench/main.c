/* SPDX-License-Identifier: BSD-3-Clause */
/* usage: coll_app [--ms N] [--warm N] [--rows] APP[,KEY=VALUE...] ...
 *
 *   --ms N     about how long to repeat each (100 ms), 3 times at least; 0: once
 *   --warm N   about how long before that counts (0 ms); once at least
 *   --rows     print what bench/coll reads: tabs between text, unit, median,
 *              least, greatest and number of runs; else KEY=VALUE
 *
 * APP is fft, cg, summa, cholesky or late. Prints a line for each: the time of
 * the slowest rank, and what the ranks spent in collectives, barriers and halos
 * on average, medians over runs; whether the result is right. Ends with 1 if
 * one is not. Ends itself when it takes too long. */
#include "bench.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LIMIT_S = 240, RUNS_LEAST = 3, RUNS_MOST = 1000, MS_PER_S = 1000 };
enum { TIME = PARTS, COUNT, VALUES }; /* of a run; but for COUNT seconds */

static const char *const value_names[] = {"coll", "barrier", "halo", "time"};

struct print {
    int ms, warm_ms;
    bool rows;
};

/* One run: seconds of this rank. */
static void run_once(struct bench *bench, const struct app *app, void *state,
                     double out[VALUES])
{
    double begin;

    app->reset(bench, state);
    memset(bench->spent, 0, sizeof(bench->spent));
    bench->count = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    begin = MPI_Wtime();
    app->run(bench, state);
    out[TIME] = MPI_Wtime() - begin;
    out[COUNT] = bench->count;
    memcpy(out, bench->spent, sizeof(bench->spent));
}

/* Run until about warm_ms have passed, as rank 0 sees it; returns the seconds
 * of its last run. */
static double warm_up(struct bench *bench, const struct app *app, void *state,
                      double warm_ms)
{
    double begin = MPI_Wtime(), last[VALUES];
    int goes_on;

    do {
        run_once(bench, app, state, last);
        goes_on = (MPI_Wtime() - begin) * MS_PER_S < warm_ms;
        MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    } while (goes_on);
    return last[TIME];
}

/* How often to run, told by rank 0 from how long a run takes the slowest. */
static int runs_in(int ms, double seconds)
{
    int least = ms > 0 ? RUNS_LEAST : 1, runs;
    double most = 0, many;

    MPI_Reduce(&seconds, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    many = ms / (MS_PER_S * (most > 0 ? most : 1e-9));
    runs = many > RUNS_MOST ? RUNS_MOST : many < least ? least : (int) many;
    MPI_Bcast(&runs, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return runs;
}

/* Of each run the time of the slowest rank, and means of the others, in ms; the
 * sum of what is counted. */
static void gather(const struct bench *bench, double *samples, int runs)
{
    double *slowest = zeros((size_t) runs * VALUES, sizeof(double));

    MPI_Reduce(samples, slowest, runs * VALUES, MPI_DOUBLE, MPI_MAX, 0,
               MPI_COMM_WORLD);
    MPI_Reduce(bench->rank == 0 ? MPI_IN_PLACE : samples, samples,
               runs * VALUES, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    for (int i = 0; i < runs * VALUES; i++)
        samples[i] *= MS_PER_S / (double) bench->size;
    for (int run = 0; run < runs; run++) {
        samples[run * VALUES + TIME] = slowest[run * VALUES + TIME] * MS_PER_S;
        samples[run * VALUES + COUNT] *= bench->size / (double) MS_PER_S;
    }
    free(slowest);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;

    return (x > y) - (x < y);
}

/* Median, least and greatest of a value over runs. */
static void range_of(const double *samples, int runs, int value, double out[3])
{
    double *sorted = zeros((size_t) runs, sizeof(double));

    for (int run = 0; run < runs; run++)
        sorted[run] = samples[run * VALUES + value];
    qsort(sorted, (size_t) runs, sizeof(double), compare);
    out[0] = sorted[runs / 2];
    out[1] = sorted[0];
    out[2] = sorted[runs - 1];
    free(sorted);
}

static void print_row(const char *spec, const char *part, const char *unit,
                      const double value[3], int runs)
{
    printf("%s%s%s\t%s\t%.4f\t%.4f\t%.4f\t%d\n", spec, *part ? "#" : "", part,
           unit, value[0], value[1], value[2], runs);
}

static void print_rows(const struct bench *bench, const struct app *app,
                       const double *samples, int runs)
{
    double value[3];

    for (int i = 0; i <= TIME; i++) {
        range_of(samples, runs, i, value);
        print_row(bench->spec, i == TIME ? "" : value_names[i], "ms", value,
                  runs);
    }
    range_of(samples, runs, COUNT, value);
    if (app->counted)
        print_row(bench->spec, app->counted, "1", value, runs);
}

static void print_keys(const struct bench *bench, const struct app *app,
                       const double *samples, int runs,
                       const struct verdict *verdict, bool good)
{
    double value[3];

    printf("app=%.*s spec=%s ranks=%d runs=%d", (int) strcspn(bench->spec, ","),
           bench->spec, bench->spec, bench->size, runs);
    for (int i = TIME; i >= 0; i--) {
        range_of(samples, runs, i, value);
        printf(" %s_ms=%.4f", value_names[i], value[0]);
        if (i == TIME)
            printf(" least_ms=%.4f most_ms=%.4f", value[1], value[2]);
    }
    range_of(samples, runs, COUNT, value);
    if (app->counted)
        printf(" %s=%g", app->counted, value[0]);
    if (bench->nonzeros)
        printf(" nonzeros=%ld", bench->nonzeros);
    printf(" error=%.2e check=%s\n", verdict->error, good ? "ok" : "WRONG");
}

/* The greatest error of all ranks; one that is no number is wrong. */
static bool is_good(struct verdict *verdict)
{
    int good = verdict->error <= verdict->limit;

    MPI_Allreduce(MPI_IN_PLACE, &verdict->error, 1, MPI_DOUBLE, MPI_MAX,
                  MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return good;
}

/* Returns whether the result is right. */
static bool measure(struct bench *bench, const struct app *app,
                    const struct print *print)
{
    void *state = app->open(bench);
    struct verdict verdict;
    int runs = runs_in(print->ms, warm_up(bench, app, state, print->warm_ms));
    double *samples = zeros((size_t) runs * VALUES, sizeof(double));
    bool good;

    for (int run = 0; run < runs; run++)
        run_once(bench, app, state, samples + run * VALUES);
    verdict = app->check(bench, state);
    good = is_good(&verdict);
    gather(bench, samples, runs);
    if (bench->rank == 0 && print->rows)
        print_rows(bench, app, samples, runs);
    else if (bench->rank == 0)
        print_keys(bench, app, samples, runs, &verdict, good);
    if (bench->rank == 0 && print->rows && !good)
        fprintf(stderr, "coll_app: %s is WRONG by %g\n", bench->spec,
                verdict.error);
    fflush(stdout);
    free(samples);
    app->close(state);
    return good;
}

static struct print read_arguments(int argc, char **argv)
{
    static const struct option known[] = {
        {"ms", required_argument, NULL, 'm'},
        {"warm", required_argument, NULL, 'w'},
        {"rows", no_argument, NULL, 'r'},
        {NULL, 0, NULL, 0}};
    struct print print = {.ms = 100};
    struct options opt;

    for (int c; (c = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        if (c == 'm')
            print.ms = atoi(optarg);
        else if (c == 'w')
            print.warm_ms = atoi(optarg);
        else if (c == 'r')
            print.rows = true;
        else
            exit(2);
    }
    for (int i = optind; i < argc; i++)
        options_read(argv[i], &opt);
    return print;
}

int main(int argc, char **argv)
{
    struct print print = read_arguments(argc, argv);
    struct bench bench = {0};
    bool good = true;

    alarm(LIMIT_S);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &bench.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &bench.size);
    for (int i = optind; i < argc; i++) {
        const struct app *app = options_read(argv[i], &bench.opt);

        bench.spec = argv[i];
        bench.nonzeros = 0;
        good = measure(&bench, app, &print) && good;
    }
    MPI_Finalize();
    return good ? 0 : 1;
}
