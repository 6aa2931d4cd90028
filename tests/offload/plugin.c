/* SPDX-License-Identifier: BSD-3-Clause */
/* A library that starts MPI when it is loaded, ends it when it is unloaded, and
 * uses it in between: loader.c. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BYTES = 4 << 20, OUTSIDE_MS = 50 };

int work(void);

/* A large message to each neighbour, outside MPI for a while, and what other
 * parts of MPI it takes to make and use a window and a file. */
static void use(const char *when)
{
    const struct timespec outside = {.tv_nsec = OUTSIDE_MS * 1000000L};
    char *out = malloc(BYTES), *in = malloc(BYTES), name[32];
    int rank, size, one = 1, sum, *word;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_File file;
    MPI_Win win;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    memset(out, rank + 1, BYTES);
    MPI_Irecv(in, BYTES, MPI_BYTE, (rank + size - 1) % size, 1, MPI_COMM_WORLD,
              &requests[0]);
    MPI_Isend(out, BYTES, MPI_BYTE, (rank + 1) % size, 1, MPI_COMM_WORLD,
              &requests[1]);
    nanosleep(&outside, NULL);
    MPI_Waitall(2, requests, statuses);

    MPI_Win_allocate(sizeof(*word), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &word,
                     &win);
    *word = 0;
    MPI_Win_fence(0, win);
    MPI_Accumulate(&one, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, MPI_SUM,
                   win);
    MPI_Win_fence(0, win);
    MPI_Allreduce(word, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Win_free(&win);

    snprintf(name, sizeof(name), "plugin.%d", rank);
    MPI_File_open(MPI_COMM_SELF, name,
                  MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &file);
    MPI_File_write(file, &sum, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    printf("%s: rank %d of %d, %d, %d\n", when, rank, size, sum, in[BYTES - 1]);
    fflush(stdout);
    free(out);
    free(in);
}

__attribute__((constructor)) static void loaded(void)
{
    MPI_Init(NULL, NULL);
    use("loaded");
}

__attribute__((destructor)) static void unloaded(void)
{
    use("unloaded");
    MPI_Finalize();
}

int work(void)
{
    use("work");
    return 0;
}
