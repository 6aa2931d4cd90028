/* SPDX-License-Identifier: BSD-3-Clause */
/* Two ranks, in each some threads that send and receive types and free them at
 * once, so that MPI deletes them when the messages end, while other threads
 * want to enter it. Each byte is as sent. Ends with 1 where one is not. */
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 3, ROUNDS = 500, LONGEST = 20000 };

static int rank;
static atomic_long wrong;

/* Every second of 2 * n doubles. */
static MPI_Datatype every_second(int n)
{
    MPI_Datatype type;

    MPI_Type_vector(n, 1, 2, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    return type;
}

static void exchange(MPI_Comm comm, int n, const double *out, double *in)
{
    MPI_Datatype to = every_second(n), from = every_second(n);
    MPI_Request requests[2];
    MPI_Status statuses[2];

    MPI_Irecv(in, 1, from, 1 - rank, 0, comm, &requests[0]);
    MPI_Isend(out, 1, to, 1 - rank, 0, comm, &requests[1]);
    MPI_Type_free(&to);
    MPI_Type_free(&from);
    MPI_Waitall(2, requests, statuses);
}

static void *work(void *comm_p)
{
    static const int lengths[] = {4, 100, 3000, LONGEST};
    double *out = malloc(2 * LONGEST * sizeof(*out));
    double *in = malloc(2 * LONGEST * sizeof(*in));

    for (int round = 0; round < ROUNDS; round++) {
        int n = lengths[round % 4];

        for (int i = 0; i < 2 * n; i++) {
            out[i] = round + i;
            in[i] = -1;
        }
        exchange(*(MPI_Comm *) comm_p, n, out, in);
        for (int i = 0; i < 2 * n; i++)
            if (in[i] != (i % 2 == 0 ? out[i] : -1))
                atomic_fetch_add(&wrong, 1);
    }
    free(out);
    free(in);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    MPI_Comm comms[THREADS];
    int provided;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, &comms[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_free(&comms[i]);
    printf("%ld wrong\n", atomic_load(&wrong));
    MPI_Finalize();
    return wrong > 0;
}
