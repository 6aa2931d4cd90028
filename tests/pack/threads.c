/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that make, pack and free types at once, and pack one that they share:
 * each byte is as the thread wants it. Handles go from one thread's type to
 * another's. Ends with 1 where one is not. */
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { THREADS = 4, ROUNDS = 1500, BLOCKS = 24 };

static MPI_Datatype shared;
static double data[BLOCKS * 8];
static atomic_long wrong;

/* Blocks of `block` doubles, every `stride`. */
static void pack(MPI_Datatype type, int block, int stride)
{
    double packed[BLOCKS * 8] = {0}, *at = packed;
    int position = 0;

    MPI_Pack(data, 1, type, packed, sizeof(packed), &position, MPI_COMM_SELF);
    for (int i = 0; i < BLOCKS; i++, at += block)
        if (memcmp(at, data + i * stride, (size_t) block * sizeof(double)))
            atomic_fetch_add(&wrong, 1);
    if (position != BLOCKS * block * (int) sizeof(double))
        atomic_fetch_add(&wrong, 1);
}

static void *work(void *number)
{
    unsigned random = (unsigned) (size_t) number;

    for (int i = 0; i < ROUNDS; i++) {
        int block, stride;
        MPI_Datatype type;

        random = random * 1103515245 + 12345;
        block = 1 + (int) (random >> 16) % 3;
        stride = block + 1 + (int) (random >> 20) % 4;
        MPI_Type_vector(BLOCKS, block, stride, MPI_DOUBLE, &type);
        MPI_Type_commit(&type);
        pack(type, block, stride);
        pack(shared, 1, 2);
        MPI_Type_free(&type);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    int provided;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    for (size_t i = 0; i < sizeof(data) / sizeof(data[0]); i++)
        data[i] = (double) i + 1;
    MPI_Type_vector(BLOCKS, 1, 2, MPI_DOUBLE, &shared);
    MPI_Type_commit(&shared);
    for (size_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *) (i + 1));
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%ld wrong\n", atomic_load(&wrong));
    MPI_Type_free(&shared);
    MPI_Finalize();
    return wrong > 0;
}
