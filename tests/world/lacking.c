/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls a function that MPICH has had since 4.0, but which the library of
 * t4014 does not have: says so before and after. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    printf("before\n");
    fflush(stdout);
    (void) MPIX_Query_hip_support();
    printf("after\n");
    MPI_Finalize();
    return 0;
}
