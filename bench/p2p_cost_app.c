/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 1 posts receives, then rank 0 sends to them; bench/p2p_cost runs it
 * under callgrind, which sees each function measure_* as one line of its
 * profile. Prints "NAME POSTS ALLOCATIONS" for each, of its own rank.
 *
 * usage: p2p_cost_app */
#include "buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum {
    WINDOW = 16, /* posts under way at once */
    WARM_UPS = 40,
    ROUNDS = 20,
    MANY = 1000, /* more under way than ever before */
    MOST_BYTES = 65536,
};

/* ---- allocations, of all libraries of the process ----------------------------- */

static _Thread_local bool counts;
static _Thread_local long allocations;

#define EXPORT __attribute__((visibility("default")))

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);

EXPORT void *malloc(size_t bytes)
{
    allocations += counts;
    return __libc_malloc(bytes);
}

EXPORT void *calloc(size_t n, size_t bytes)
{
    allocations += counts;
    return __libc_calloc(n, bytes);
}

EXPORT void *realloc(void *old, size_t bytes)
{
    allocations += counts;
    return __libc_realloc(old, bytes);
}

/* ---- posts -------------------------------------------------------------------- */

static int rank;
static char *buffer;
static MPI_Request requests[MANY];

#define MEASURE(name, call, bytes)                                             \
    void measure_##name(int n);                                                \
    __attribute__((noinline)) void measure_##name(int n)                       \
    {                                                                          \
        for (int i = 0; i < n; i++)                                            \
            call(buffer + (size_t) (i % WINDOW) * (bytes), (bytes), MPI_BYTE,  \
                 !rank, 0, MPI_COMM_WORLD, &requests[i]);                      \
    }
#define MEASURE_BOTH(row, bytes)                                               \
    MEASURE(isend_##row, MPI_Isend, bytes)                                     \
    MEASURE(irecv_##row, MPI_Irecv, bytes)
MEASURE_BOTH(8, 8)
MEASURE_BOTH(4096, 4096)
MEASURE_BOTH(65536, 65536)
MEASURE_BOTH(8_many, 8)

/* The same, for rounds that do not count. */
static void isend(int bytes, int n)
{
    for (int i = 0; i < n; i++)
        MPI_Isend(buffer, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &requests[i]);
}

static void irecv(int bytes, int n)
{
    for (int i = 0; i < n; i++)
        MPI_Irecv(buffer + (size_t) (i % WINDOW) * (size_t) bytes, bytes,
                  MPI_BYTE, 0, 0, MPI_COMM_WORLD, &requests[i]);
}

static const struct row {
    const char *name;
    int bytes, window, warm_ups, rounds;
    void (*isend)(int n), (*irecv)(int n);
} rows[] = {
    {"8", 8, WINDOW, WARM_UPS, ROUNDS, measure_isend_8, measure_irecv_8},
    {"4096", 4096, WINDOW, WARM_UPS, ROUNDS, measure_isend_4096,
     measure_irecv_4096},
    {"65536", 65536, WINDOW, WARM_UPS, ROUNDS, measure_isend_65536,
     measure_irecv_65536},
    {"8_many", 8, MANY, 0, 1, measure_isend_8_many, measure_irecv_8_many},
};

/* The receives are posted when the sends begin, and news of them have come. */
static void round_of(const struct row *row, bool counted)
{
    static MPI_Status statuses[MANY];

    for (int turn = 1; turn >= 0; turn--) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (turn != rank)
            continue;
        counts = counted;
        if (counted)
            (rank ? row->irecv : row->isend)(row->window);
        else
            (rank ? irecv : isend)(row->bytes, row->window);
        counts = false;
    }
    MPI_Waitall(row->window, requests, statuses);
}

static void run(const struct row *row)
{
    for (int i = 0; i < row->warm_ups; i++)
        round_of(row, false);
    allocations = 0;
    for (int i = 0; i < row->rounds; i++)
        round_of(row, true);
    printf("%s_%s %d %ld\n", rank ? "irecv" : "isend", row->name,
           row->rounds * row->window, allocations);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    buffer = buffer_pages((size_t) WINDOW * MOST_BYTES);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        run(&rows[i]);
    free(buffer);
    MPI_Finalize();
    return 0;
}
