/* SPDX-License-Identifier: BSD-3-Clause */
/* CPU time that a rank takes to match a message, with so many to choose from.
 *
 * usage: matching_app RECEIVES ROUNDS
 * Rank 0 posts RECEIVES receives with a tag each, and rank 1 sends in the
 * opposite order ("posted"); or rank 1 sends first, and rank 0 receives in the
 * opposite order ("unexpected"). Prints the least of the rounds for both, in
 * microseconds of CPU time for each message: "posted unexpected". */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int n, rank;
static char *bytes;
static MPI_Request *requests;
static MPI_Status *statuses;

static double cpu_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double) t.tv_sec * 1e6 + (double) t.tv_nsec / 1e3;
}

static void send_all(int from, int step)
{
    for (int i = 0, tag = from; i < n; i++, tag += step)
        MPI_Send(bytes, 1, MPI_CHAR, 0, tag, MPI_COMM_WORLD);
}

static double posted(void)
{
    double begin;

    for (int i = 0; rank == 0 && i < n; i++)
        MPI_Irecv(&bytes[i], 1, MPI_CHAR, 1, i, MPI_COMM_WORLD, &requests[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1)
        send_all(n - 1, -1);
    begin = cpu_us();
    if (rank == 0)
        MPI_Waitall(n, requests, statuses);
    return (cpu_us() - begin) / n;
}

static double unexpected(void)
{
    double begin;

    if (rank == 1)
        send_all(0, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    begin = cpu_us();
    for (int tag = n - 1; rank == 0 && tag >= 0; tag--)
        MPI_Recv(bytes, 1, MPI_CHAR, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return (cpu_us() - begin) / n;
}

static double least(double kernel(void), int rounds)
{
    double best = -1;

    for (int i = 0; i < rounds; i++) {
        double us = kernel();

        MPI_Barrier(MPI_COMM_WORLD);
        best = best < 0 || us < best ? us : best;
    }
    return best;
}

int main(int argc, char **argv)
{
    int rounds = argc > 2 ? atoi(argv[2]) : 10;
    double first, second;

    n = argc > 1 ? atoi(argv[1]) : 1000;
    bytes = calloc((size_t) n, 1);
    requests = calloc((size_t) n, sizeof(*requests));
    statuses = calloc((size_t) n, sizeof(*statuses));
    if (!bytes || !requests || !statuses)
        return 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    first = least(posted, rounds);
    second = least(unexpected, rounds);
    if (rank == 0)
        printf("%.3f %.3f\n", first, second);
    MPI_Finalize();
    free(statuses);
    free(requests);
    free(bytes);
    return 0;
}
