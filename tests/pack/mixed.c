/* SPDX-License-Identifier: BSD-3-Clause */
/* Two ranks, of which one may have no Aspen, send each other structs: MPICH
 * cannot unpack a part of a number, so pieces of a message must end where it
 * can. Prints how many are wrong. */
#include <mpi.h>
#include <omp.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

enum { PAIRS = 30000, TAG = 2, THREADS = 3, TIMES = 5 };

static struct pair {
    int number;
    double value;
} data[PAIRS];

static MPI_Datatype make_type(void)
{
    int lengths[] = {1, 1};
    MPI_Aint at[] = {offsetof(struct pair, number),
                     offsetof(struct pair, value)};
    MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE}, pair, resized;

    MPI_Type_create_struct(2, lengths, at, types, &pair);
    MPI_Type_create_resized(pair, 0, sizeof(struct pair), &resized);
    MPI_Type_commit(&resized);
    MPI_Type_free(&pair);
    return resized;
}

static void fill(int first)
{
    for (int i = 0; i < PAIRS; i++)
        data[i] = (struct pair){first + i, first + i};
}

static int count_wrong(int first)
{
    int wrong = 0;

    for (int i = 0; i < PAIRS; i++)
        wrong += data[i].number != first + i || data[i].value < first + i ||
                 data[i].value > first + i;
    return wrong;
}

static int send_and_receive(int from, int rank, int first, MPI_Datatype type)
{
    if (rank == from) {
        fill(first);
        MPI_Send(data, PAIRS, type, 1 - rank, TAG, MPI_COMM_WORLD);
        return 0;
    }
    fill(0);
    MPI_Recv(data, PAIRS, type, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return count_wrong(first);
}

int main(int argc, char **argv)
{
    int rank, wrong = 0;
    MPI_Datatype type;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    type = make_type();
    omp_set_num_threads(THREADS);
#pragma omp parallel
    usleep(1000);
    for (int i = 0; i < TIMES; i++) {
        wrong += send_and_receive(0, rank, i, type);
        wrong += send_and_receive(1, rank, 2 * i, type);
    }
    printf("rank %d: %d wrong\n", rank, wrong);
    MPI_Type_free(&type);
    MPI_Finalize();
    return 0;
}
