/* SPDX-License-Identifier: BSD-3-Clause */
/* A plugin that talks MPI; with RTLD_DEEPBIND it is bound to libmpich past any
 * preloaded library. It starts MPI, and ends it, if nobody else did. */
#include <mpi.h>

#include <stdio.h>

/* The tree is compiled with hidden symbols. */
__attribute__((visibility("default"))) int plugin_run(void);

int plugin_run(void)
{
    int started, rank, size, sum;

    MPI_Initialized(&started);
    if (!started)
        MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("%d: plugin: one of %d, sum %d\n", rank, size, sum);
    fflush(stdout);
    if (!started)
        MPI_Finalize();
    return 0;
}
