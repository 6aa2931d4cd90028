/* SPDX-License-Identifier: BSD-3-Clause */
/* usage: typed_app STEPS N KERNEL
 *
 * Makes STEPS steps of a kernel of size N, after one that does not count, on
 * two ranks (MPI_Pack: on one). Prints microseconds of a step in MPI and in
 * all, of the slower rank, and a checksum, with tabs between. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LIMIT_S = 240 };

const struct kernel kernels[] = {
    {"pack-front", front_open, plane_pack_step, plane_close},
    {"pack-xz", xz_open, plane_pack_step, plane_close},
    {"pack-yz", yz_open, plane_pack_step, plane_close},
    {"send-front", front_open, plane_send_step, plane_close},
    {"send-xz", xz_open, plane_send_step, plane_close},
    {"send-yz", yz_open, plane_send_step, plane_close},
    {"halo-cube", cube_open, halo_step, halo_close},
    {"halo-x", long_x_open, halo_step, halo_close},
    {"halo-y", long_y_open, halo_step, halo_close},
    {"halo-z", long_z_open, halo_step, halo_close},
    {"multigrid", multigrid_open, multigrid_step, multigrid_close},
    {NULL, NULL, NULL, NULL},
};

static void run(const struct kernel *kernel, int steps, int n)
{
    double mine[2], most[2], sum, sums, begin;
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    kernel->open(n);
    kernel->step();
    MPI_Barrier(MPI_COMM_WORLD);
    in_mpi_s = 0;
    begin = MPI_Wtime();
    for (int i = 0; i < steps; i++)
        kernel->step();
    mine[0] = in_mpi_s;
    mine[1] = MPI_Wtime() - begin;
    sum = kernel->close();
    MPI_Reduce(mine, most, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&sum, &sums, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%.3f\t%.3f\t%.17g\n", most[0] / steps * 1e6,
               most[1] / steps * 1e6, sums);
}

int main(int argc, char **argv)
{
    const struct kernel *kernel = kernels;
    const int steps = argc == 4 ? atoi(argv[1]) : 0;
    const int n = argc == 4 ? atoi(argv[2]) : 0;
    int provided, size;

    alarm(LIMIT_S);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    while (kernel->name && argc == 4 && strcmp(kernel->name, argv[3]) != 0)
        kernel++;
    if (steps < 1 || n < 8 || !kernel->name ||
        size != (strncmp(kernel->name, "pack", 4) == 0 ? 1 : 2)) {
        fputs("usage: typed_app STEPS N KERNEL\n", stderr);
        MPI_Finalize();
        return 2;
    }
    run(kernel, steps, n);
    MPI_Finalize();
    return 0;
}
