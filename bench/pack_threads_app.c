/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls with typed data in an OpenMP program, for callgrind: bench/pack_threads
 * reads what each measure_*() takes.
 *
 * usage: pack_threads_app CALLS */
#include <mpi.h>
#include <omp.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    SMALL = 32 << 10, /* below the threshold, in bytes of the stream */
    LARGE = 256 << 10,
    THREADS = 4,
    SETTLE_US = 20000,
};

/* A line each in the profile. */
#ifdef __clang__
#define ALONE __attribute__((noinline))
#else
#define ALONE __attribute__((noipa))
#endif

static int calls;
static char *from, *to;
static MPI_Datatype small, large;
static volatile int over;

static void pack(MPI_Datatype type, int count)
{
    for (int i = 0; i < calls; i++) {
        int position = 0;

        MPI_Pack(from, count, type, to, LARGE, &position, MPI_COMM_WORLD);
    }
}

ALONE static void measure_named(void)
{
    pack(MPI_DOUBLE, SMALL / (int) sizeof(double));
}

ALONE static void measure_small(void)
{
    pack(small, 1);
}

ALONE static void measure_busy(void)
{
    pack(large, 1);
}

ALONE static void measure_critical(void)
{
    pack(large, 1);
}

ALONE static void measure_send(void)
{
    for (int i = 0; i < calls; i++)
        MPI_Sendrecv(from, 1, small, 0, 0, to, 1, small, 0, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
}

static MPI_Datatype make_type(int bytes)
{
    MPI_Datatype type;

    MPI_Type_vector(bytes / (int) sizeof(double), 1, 2, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    return type;
}

/* All others compute, as sleeping threads: callgrind runs one at a time. */
static void among_busy(void)
{
#pragma omp parallel num_threads(THREADS)
    {
        if (omp_get_thread_num() == 0) {
            pack(large, 1);
            measure_busy();
            over = 1;
        } else {
            while (!over)
                usleep(SETTLE_US);
        }
    }
}

/* All others wait to enter: at no point where they would take a task. */
static void in_critical(void)
{
    int entered = 0;

#pragma omp parallel num_threads(THREADS)
    {
#pragma omp critical
        if (entered++ == 0) {
            pack(large, 1);
            measure_critical();
        }
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    calls = argc > 1 ? atoi(argv[1]) : 1;
    from = calloc(2, LARGE);
    to = calloc(2, LARGE);
    small = make_type(SMALL);
    large = make_type(LARGE);
    measure_named();
    measure_small();
    measure_send();
    among_busy();
    in_critical();
    MPI_Finalize();
    return 0;
}
