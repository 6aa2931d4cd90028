/* SPDX-License-Identifier: BSD-3-Clause */
/* Nobody can measure time in MPI for each thread, because the program has used
 * up the keys for memory of threads before MPI_Init. */
#include <mpi.h>
#include <pthread.h>

int main(int argc, char **argv)
{
    pthread_key_t key;

    while (pthread_key_create(&key, NULL) == 0)
        ;
    MPI_Init(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
