/* SPDX-License-Identifier: BSD-3-Clause */
/* An int that all ranks of a test on one node share, without MPI's windows:
 * over UCX MPICH 5 has no shared ones. */
#ifndef ASPEN_TESTS_SHARED_INT_H
#define ASPEN_TESTS_SHARED_INT_H

#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Zero at first; collective on MPI_COMM_WORLD. Mapped until the process ends.
 */
static int *shared_int(void)
{
    char name[64] = "";
    int its_rank, fd = -1;
    int *its;

    MPI_Comm_rank(MPI_COMM_WORLD, &its_rank);
    if (its_rank == 0) {
        FILE *file = tmpfile();

        if (!file)
            abort();
        fd = fileno(file);
        if (ftruncate(fd, sizeof(*its)) < 0)
            abort();
        snprintf(name, sizeof(name), "/proc/%d/fd/%d", (int) getpid(), fd);
    }
    MPI_Bcast(name, sizeof(name), MPI_CHAR, 0, MPI_COMM_WORLD);
    if (its_rank != 0)
        fd = open(name, O_RDWR);
    its = mmap(NULL, sizeof(*its), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (its == MAP_FAILED)
        abort();
    MPI_Barrier(MPI_COMM_WORLD);
    close(fd);
    return its;
}

#endif
