/* SPDX-License-Identifier: BSD-3-Clause */
/* An operation of the program that takes 32 MiB of stack. */
#include <mpi.h>
#include <stdio.h>

#ifndef __clang__ /* has no such warning */
#pragma GCC diagnostic ignored "-Wstack-usage="
#endif

static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
    volatile char large[32 << 20];

    (void) n;
    (void) type;
    for (size_t i = 0; i < sizeof(large); i += 4096)
        large[i] = 1;
    *(int *) inout += *(int *) in * large[0];
}

int main(int argc, char **argv)
{
    int one = 1, sum;
    MPI_Op op;

    MPI_Init(&argc, &argv);
    MPI_Op_create(add, 1, &op);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
    printf("sum %d\n", sum);
    MPI_Op_free(&op);
    return MPI_Finalize();
}
