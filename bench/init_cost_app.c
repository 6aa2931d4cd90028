/* SPDX-License-Identifier: BSD-3-Clause */
/* For bench/init_cost: how long does MPI_Init take? Rank 0 prints the slowest
 * rank's milliseconds and the number of ranks the program sees.
 *
 *   init_cost_app           MPI_Init alone (with whatever is preloaded)
 *   init_cost_app fetch     one layout fetch, then MPI_Init, both timed */
#include "config.h"

#include "runtime/world/layout_fetch.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static double now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double) now.tv_sec * 1e3 + (double) now.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
    double begin = now_ms();
    struct asp_layout *layout = NULL;
    struct asp_err err = {{0}, {0}};
    double slowest = 0;
    double mine;
    uint32_t local;
    int rank;
    int size;

    if (argc > 1 && strcmp(argv[1], "fetch") == 0 &&
        aspx_layout_fetch(&layout, &local, &err) < 0) {
        fprintf(stderr, "init_cost_app: %s\n", err.text);
        return 1;
    }
    MPI_Init(&argc, &argv);
    mine = now_ms() - begin;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Reduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("init_ms %.3f ranks %d\n", slowest, size);
    MPI_Finalize();
    asp_layout_destroy(layout);
    return 0;
}
