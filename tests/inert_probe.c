/* SPDX-License-Identifier: BSD-3-Clause */
/* What a preloaded library adds to a process and to MPI calls, seen from
 * inside. Prints after MPI_Init how many threads and descriptors there are,
 * and how many allocations a few thousand MPI calls made; these calls run in a
 * child that the kernel kills at the first system call.
 * Used by t4100-runtime-inert.bats. */
#include <dirent.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <linux/seccomp.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);

static volatile long allocations;

/* Ahead of libc's, for every library of this process. */
void *malloc(size_t size)
{
    allocations++;
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    allocations++;
    return __libc_calloc(count, size);
}

static int entries(const char *path)
{
    DIR *dir = opendir(path);
    int n = 0;

    while (dir && readdir(dir))
        n++;
    if (dir)
        closedir(dir);
    return n;
}

static void call_mpi(int loops)
{
    int rank, size, count;
    MPI_Status status;

    for (int i = 0; i < loops; i++) {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        PMPI_Comm_size(MPI_COMM_WORLD, &size);
        MPI_Type_size(MPI_DOUBLE, &size);
        MPI_Sendrecv(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, NULL, 0, MPI_INT,
                     MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_INT, &count);
    }
}

int main(int argc, char **argv)
{
    long *made = mmap(NULL, sizeof(*made), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status;

    MPI_Init(&argc, &argv);
    printf("threads %d descriptors %d\n", entries("/proc/self/task") - 2,
           entries("/proc/self/fd") - 3);
    fflush(stdout);
    call_mpi(1);
    if (fork() == 0) {
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
        allocations = 0;
        call_mpi(1000);
        *made = allocations;
        syscall(SYS_exit, 0);
    }
    wait(&status);
    printf("allocations %ld %s\n", *made,
           WIFEXITED(status) ? "no system call" : "a system call");
    MPI_Finalize();
    return 0;
}
