/* SPDX-License-Identifier: BSD-3-Clause */
/* An error handler that, while the program is in MPI_Waitall, waits for or
 * frees requests that are waited for there, and posts one that stays: their
 * places may be given out anew meanwhile. What it prints plain MPI prints, too.
 * usage: handled first|all|free ; 2 ranks */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { ROUNDS = 10, N = 3, TAG_STAYS = 9, IDLE_MS = 500, IDLE_MOST_MS = 150 };

static MPI_Request r[N], stays;
static const char *how;
static int told, got;

static void rest(long ms)
{
    const struct timespec length = {0, ms * 1000000};

    nanosleep(&length, NULL);
}

static void handle(MPI_Comm *comm, int *code, ...)
{
    (void) comm;
    (void) code;
    if (told++)
        return;
    for (int i = 0; i < (strcmp(how, "first") == 0 ? 1 : N); i++) {
        if (r[i] == MPI_REQUEST_NULL)
            continue;
        if (strcmp(how, "free") == 0)
            MPI_Request_free(&r[i]);
        else
            MPI_Wait(&r[i], MPI_STATUS_IGNORE);
    }
    MPI_Irecv(&got, 1, MPI_INT, 1, TAG_STAYS, MPI_COMM_WORLD, &stays);
}

/* Of the last of the first N messages too much comes, and before the others. */
static void send_round(int round)
{
    int two[2] = {0, 0};

    rest(5);
    MPI_Send(two, 2, MPI_INT, 0, N - 1, MPI_COMM_WORLD);
    rest(5);
    for (int i = 0; i < N - 1; i++)
        MPI_Send(two, 1, MPI_INT, 0, i, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(&round, 1, MPI_INT, 0, TAG_STAYS, MPI_COMM_WORLD);
}

static int receive_round(int round)
{
    MPI_Status statuses[2 * N];
    MPI_Request own[2 * N];
    int in[N], out[N] = {1, 2, 3}, back[N] = {0, 0, 0}, wrong = 0;

    told = 0;
    for (int i = 0; i < N; i++)
        MPI_Irecv(&in[i], 1, MPI_INT, 1, i, MPI_COMM_WORLD, &r[i]);
    MPI_Waitall(N, r, statuses);
    for (int i = 0; i < N; i++) {
        wrong += r[i] != MPI_REQUEST_NULL;
        MPI_Irecv(&back[i], 1, MPI_INT, 0, 20 + i, MPI_COMM_WORLD, &own[i]);
        MPI_Isend(&out[i], 1, MPI_INT, 0, 20 + i, MPI_COMM_WORLD, &own[N + i]);
    }
    for (int i = 0; i < 2 * N; i++)
        wrong += own[i] == stays; /* one handle for two */
    MPI_Waitall(2 * N, own, statuses);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Wait(&stays, MPI_STATUS_IGNORE);
    return wrong + (told < 1) + (got != round) +
           (memcmp(out, back, sizeof(out)) != 0);
}

static double cpu_ms(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return 1e3 * (double) (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-3 * (double) (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/* Does a helper still believe that somebody waits? */
static bool is_idle(void)
{
    double before;

    rest(100);
    before = cpu_ms();
    rest(IDLE_MS);
    return cpu_ms() - before < IDLE_MOST_MS;
}

int main(int argc, char **argv)
{
    MPI_Errhandler handler;
    int rank, wrong = 0;

    how = argv[1];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_create_errhandler(handle, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0)
            wrong += receive_round(round);
        else
            send_round(round);
    }
    if (rank == 0)
        printf("%d rounds, %d wrong, then %s\n", ROUNDS, wrong,
               is_idle() ? "idle" : "busy");
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Finalize();
}
