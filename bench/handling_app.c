/* SPDX-License-Identifier: BSD-3-Clause */
/* bench/handling: rank 0 sends operations of one kind and size to rank 1, which
 * sleeps outside MPI, so that somebody else has to handle them. Prints how many
 * it sent, and the time from the first to the last flush.
 * usage: handling_app put|get|accumulate BYTES SECONDS [sparse] */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BATCH = 32, BYTES_MAX = 1 << 20 };

struct kind {
    const char *name;
    int (*send)(double *here, int count, MPI_Datatype there, MPI_Win win);
};

static int put(double *here, int count, MPI_Datatype there, MPI_Win win)
{
    return MPI_Put(here, count, MPI_DOUBLE, 1, 0, 1, there, win);
}

static int get(double *here, int count, MPI_Datatype there, MPI_Win win)
{
    return MPI_Get(here, count, MPI_DOUBLE, 1, 0, 1, there, win);
}

static int accumulate(double *here, int count, MPI_Datatype there, MPI_Win win)
{
    return MPI_Accumulate(here, count, MPI_DOUBLE, 1, 0, 1, there, MPI_SUM,
                          win);
}

static const struct kind kinds[] = {
    {"put", put}, {"get", get}, {"accumulate", accumulate}};

static long run(const struct kind *kind, int count, MPI_Datatype there,
                double seconds, MPI_Win win)
{
    double *here = calloc((size_t) count, sizeof(*here));
    double end = MPI_Wtime() + seconds;
    long sent = 0;

    while (MPI_Wtime() < end) {
        for (int i = 0; i < BATCH; i++)
            kind->send(here, count, there, win);
        MPI_Win_flush(1, win);
        sent += BATCH;
    }
    free(here);
    return sent;
}

/* Outside MPI, but for a look now and then if it is over. */
static void sleep_until(MPI_Request *over)
{
    const struct timespec nap = {0, 20000000};
    int flag = 0;

    while (!flag) {
        nanosleep(&nap, NULL);
        MPI_Test(over, &flag, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    const struct kind *kind = kinds;
    MPI_Datatype there;
    MPI_Request over;
    MPI_Win win;
    double *base;
    int rank, count, bytes;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    bytes = argc > 3 ? atoi(argv[2]) : 0;
    for (size_t k = 1; argc > 1 && k < sizeof(kinds) / sizeof(kinds[0]); k++)
        if (strcmp(argv[1], kinds[k].name) == 0)
            kind = &kinds[k];
    if (bytes < 8 || bytes > BYTES_MAX || strcmp(kind->name, argv[1]) != 0) {
        fprintf(stderr, "usage: handling_app put|get|accumulate BYTES SECONDS "
                        "[sparse]\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    count = bytes / 8;
    if (argc > 4) /* every other double, which nothing can do in one stroke */
        MPI_Type_vector(count, 1, 2, MPI_DOUBLE, &there);
    else
        MPI_Type_contiguous(count, MPI_DOUBLE, &there);
    MPI_Type_commit(&there);
    MPI_Win_allocate(2 * (MPI_Aint) count * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD,
                     &base, &win);
    MPI_Win_lock_all(0, win);
    if (rank == 0)
        run(kind, count, there, 0.05, win);
    if (rank == 0) {
        double begin = MPI_Wtime();
        long sent = run(kind, count, there, atof(argv[3]), win);

        printf("sent %ld in %.6f\n", sent, MPI_Wtime() - begin);
    }
    MPI_Ibarrier(MPI_COMM_WORLD, &over);
    sleep_until(&over);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Type_free(&there);
    MPI_Finalize();
    return 0;
}
