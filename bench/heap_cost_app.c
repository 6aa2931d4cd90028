/* SPDX-License-Identifier: BSD-3-Clause */
/* What malloc and free cost between MPI_Init and MPI_Finalize; bench/heap_cost
 * compares the lines of several runs. Each line: name, nanoseconds per round,
 * the best of ROUNDS batches.
 *
 * usage: heap_cost_app ROUNDS */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB ((size_t) 1 << 20)

/* The compiler must not see that nobody uses the memory. */
static void *volatile escape;
static void *(*volatile fill)(void *, int, size_t) = memset;

static void leave_it(size_t bytes)
{
    escape = malloc(bytes);
    free(escape);
}

static void write_it(size_t bytes)
{
    void *addr = malloc(bytes);

    escape = addr;
    fill(addr, 1, bytes);
    free(addr);
}

static void clear_it(size_t bytes)
{
    escape = calloc(1, bytes);
    free(escape);
}

/* Double from 1 MiB on, as growing arrays do. */
static void grow_it(size_t bytes)
{
    char *addr = NULL;

    for (size_t now = MIB; now <= bytes; now *= 2) {
        addr = realloc(addr, now);
        fill(addr + now / 2, 1, now / 2);
    }
    escape = addr;
    free(addr);
}

static const struct {
    const char *name;
    void (*work)(size_t bytes);
    size_t bytes;
    int batch;
} rows[] = {
    {"malloc_64B", leave_it, 64, 100000},
    {"malloc_1MiB", leave_it, MIB, 1000},
    {"written_1MiB", write_it, MIB, 50},
    {"calloc_1MiB", clear_it, MIB, 50},
    {"written_64MiB", write_it, 64 * MIB, 1},
    {"grown_64MiB", grow_it, 64 * MIB, 1},
};

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 5;

    MPI_Init(&argc, &argv);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        double best = 1e9;

        for (int r = 0; r < rounds; r++) {
            double begin = MPI_Wtime(), took;

            for (int n = 0; n < rows[i].batch; n++)
                rows[i].work(rows[i].bytes);
            took = (MPI_Wtime() - begin) / rows[i].batch;
            best = took < best ? took : best;
        }
        printf("%s %.1f\n", rows[i].name, best * 1e9);
    }
    MPI_Finalize();
    return 0;
}
