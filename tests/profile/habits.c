/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that knows how long it waits and works in MPI; it knows nothing of
 * Aspen. usage: profile_habits late|work|small|threads|callback|accumulate
 * Rank 0 prints the seconds of what it measured itself, where it did. */
#include "tests/expect.h"

#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
    LATE_MS = 300,
    BYTES = 1 << 20,
    WORKS = 200,
    SMALLS = 200000,
    THREADS = 3,
    ACCUMULATES = 300,
    NUMBERS = 8192
};

static void late(void)
{
    int word = 1;

    if (rank == 1) {
        pause_ms(LATE_MS);
        MPI_Send(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    } else if (rank == 0)
        MPI_Recv(&word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void work(void)
{
    double *from = calloc(1, BYTES), *to = calloc(1, BYTES), began;

    EXPECT(from && to);
    began = MPI_Wtime();
    for (int i = 0; i < WORKS; i++)
        MPI_Reduce_local(from, to, BYTES / (int) sizeof(*to), MPI_DOUBLE,
                         MPI_SUM);
    printf("measured %.6f\n", MPI_Wtime() - began);
    free(from);
    free(to);
}

static void small(void)
{
    char from[8] = "", to[8];
    double began = MPI_Wtime();

    for (int i = 0; i < SMALLS; i++) {
        int at = 0;

        MPI_Pack(from, sizeof(from), MPI_BYTE, to, sizeof(to), &at,
                 MPI_COMM_WORLD);
    }
    printf("measured %.6f\n", MPI_Wtime() - began);
}

static void *receive(void *tag)
{
    int word;

    MPI_Recv(&word, 1, MPI_INT, 1, *(int *) tag, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    return NULL;
}

/* All threads of rank 0 wait at the same time. */
static void threads(void)
{
    pthread_t thread[THREADS];
    int tag[THREADS], word = 1;

    for (int i = 0; i < THREADS; i++)
        tag[i] = i;
    if (rank == 1) {
        pause_ms(LATE_MS);
        for (int i = 0; i < THREADS; i++)
            MPI_Send(&word, 1, MPI_INT, 0, i, MPI_COMM_WORLD);
        return;
    }
    for (int i = 0; i < THREADS; i++)
        EXPECT(pthread_create(&thread[i], NULL, receive, &tag[i]) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
}

/* In MPI_Comm_free: takes its time, and calls MPI. */
static int deleted(MPI_Comm comm, int keyval, void *value, void *extra)
{
    int there;

    (void) comm;
    (void) keyval;
    (void) value;
    (void) extra;
    pause_ms(LATE_MS);
    MPI_Iprobe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    return MPI_SUCCESS;
}

static void callback(void)
{
    MPI_Comm comm;
    int keyval;

    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, deleted, &keyval, NULL);
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_set_attr(comm, keyval, NULL);
    MPI_Comm_free(&comm);
    MPI_Comm_free_keyval(&keyval);
}

static void accumulate(void)
{
    double *memory, *numbers = calloc(NUMBERS, sizeof(*numbers));
    MPI_Win win;

    EXPECT(numbers != NULL);
    MPI_Win_allocate(NUMBERS * sizeof(*memory), sizeof(*memory), MPI_INFO_NULL,
                     MPI_COMM_WORLD, &memory, &win);
    MPI_Win_lock_all(0, win);
    for (int i = 0; rank == 0 && i < ACCUMULATES; i++) {
        MPI_Accumulate(numbers, NUMBERS, MPI_DOUBLE, 1, 0, NUMBERS, MPI_DOUBLE,
                       MPI_SUM, win);
        MPI_Win_flush(1, win);
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    free(numbers);
}

static const struct {
    const char *name;
    void (*run)(void);
    int level;
} habits[] = {
    {"late", late, MPI_THREAD_SINGLE},
    {"work", work, MPI_THREAD_SINGLE},
    {"small", small, MPI_THREAD_SINGLE},
    {"threads", threads, MPI_THREAD_MULTIPLE},
    {"callback", callback, MPI_THREAD_SINGLE},
    {"accumulate", accumulate, MPI_THREAD_SINGLE},
};

int main(int argc, char **argv)
{
    int level;

    for (size_t i = 0; i < sizeof(habits) / sizeof(habits[0]); i++) {
        if (argc != 2 || strcmp(argv[1], habits[i].name) != 0)
            continue;
        MPI_Init_thread(&argc, &argv, habits[i].level, &level);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        EXPECT(level >= habits[i].level);
        MPI_Barrier(MPI_COMM_WORLD);
        habits[i].run();
        MPI_Finalize();
        return wrong;
    }
    return 2;
}
