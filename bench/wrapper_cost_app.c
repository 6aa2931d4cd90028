/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls MPI functions that cost little themselves, many times each, and prints
 * nanoseconds per call. bench/wrapper_cost runs it three ways and under
 * callgrind, which sees each function below as one line of its profile. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define MEASURE(name, call)                                                    \
    void measure_##name(long loops);                                           \
    __attribute__((noinline)) void measure_##name(long loops)                  \
    {                                                                          \
        for (long i = 0; i < loops; i++)                                       \
            call;                                                              \
    }

static int sink;
static double sink_time;
static MPI_Status status;

/* A communicator (world), its PMPI twin, none (pass), not an int (pass), and
 * twelve arguments of which six are on the stack (world). */
MEASURE(MPI_Comm_rank, MPI_Comm_rank(MPI_COMM_WORLD, &sink))
MEASURE(PMPI_Comm_rank, PMPI_Comm_rank(MPI_COMM_WORLD, &sink))
MEASURE(MPI_Type_size, MPI_Type_size(MPI_INT, &sink))
MEASURE(MPI_Wtime, sink_time += MPI_Wtime())
MEASURE(MPI_Sendrecv,
        MPI_Sendrecv(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, NULL, 0, MPI_INT,
                     MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status))

static const struct {
    const char *name;
    void (*run)(long loops);
} measures[] = {
    {"MPI_Comm_rank", measure_MPI_Comm_rank},
    {"PMPI_Comm_rank", measure_PMPI_Comm_rank},
    {"MPI_Type_size", measure_MPI_Type_size},
    {"MPI_Wtime", measure_MPI_Wtime},
    {"MPI_Sendrecv", measure_MPI_Sendrecv},
};

static double now_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* usage: wrapper_cost_app LOOPS REPEATS */
int main(int argc, char **argv)
{
    long loops = argc > 1 ? atol(argv[1]) : 1000000;
    int repeats = argc > 2 ? atoi(argv[2]) : 11;
    double ns[101];

    if (loops < 1 || repeats < 1 || repeats > 101)
        return 2;
    MPI_Init(&argc, &argv);
    for (size_t m = 0; m < sizeof(measures) / sizeof(measures[0]); m++) {
        for (int r = 0; r < repeats; r++) {
            double begin = now_ns();

            measures[m].run(loops);
            ns[r] = (now_ns() - begin) / (double)loops;
        }
        qsort(ns, (size_t)repeats, sizeof(ns[0]), compare);
        printf("%s %.2f\n", measures[m].name, ns[repeats / 2]);
    }
    MPI_Finalize();
    return 0;
}
