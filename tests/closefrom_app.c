/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that closes all descriptors that it does not know after MPI_Init,
 * as daemons and interpreters do, and opens files of its own, which get the
 * numbers of those. Prints "files kept" if nobody has read, written or closed
 * them when MPI_Finalize has ended its windows; what MPI itself does to its own
 * descriptors after that is MPI's business.
 *
 * The first argument: how many milliseconds to compute meanwhile. */
#include <mpi.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILES = 48, LAST = 256, HALF = 5, WINDOW = 4096 };

static const char text[] = "0123456789";
static int files[FILES], rank;

static void close_unknown(void)
{
    const char *manager = getenv("PMI_FD");

    for (int fd = STDERR_FILENO + 1; fd < LAST; fd++)
        if (!manager || atoi(manager) != fd)
            close(fd);
}

static void open_own(void)
{
    for (int i = 0; i < FILES; i++) {
        char name[] = "/tmp/aspen-closefrom.XXXXXX";

        files[i] = mkstemp(name);
        unlink(name);
        if (files[i] < 0 ||
            write(files[i], text, sizeof(text)) != sizeof(text) ||
            lseek(files[i], HALF, SEEK_SET) != HALF)
            MPI_Abort(MPI_COMM_WORLD, 2);
    }
}

static bool is_kept(int fd)
{
    char now[sizeof(text) + 1] = "";

    return lseek(fd, 0, SEEK_CUR) == HALF &&
           pread(fd, now, sizeof(now), 0) == sizeof(text) &&
           memcmp(now, text, sizeof(text)) == 0;
}

static int check(MPI_Comm comm, int keyval, void *value, void *extra)
{
    int kept = 0;

    (void) comm;
    (void) keyval;
    (void) value;
    (void) extra;
    for (int i = 0; i < FILES; i++) {
        kept += is_kept(files[i]);
        if (!is_kept(files[i]))
            printf("rank %d: file %d is not what it was\n", rank, files[i]);
    }
    if (kept == FILES)
        printf("rank %d: files kept\n", rank);
    fflush(stdout);
    return MPI_SUCCESS;
}

static void add(MPI_Win win, int size)
{
    const double one = 1;

    MPI_Win_fence(0, win);
    MPI_Accumulate(&one, 1, MPI_DOUBLE, (rank + 1) % size, 0, 1, MPI_DOUBLE,
                   MPI_SUM, win);
    MPI_Win_fence(0, win);
}

int main(int argc, char **argv)
{
    double *base;
    MPI_Win win;
    int size, keyval;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, check, &keyval, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, NULL);
    close_unknown();
    open_own();
    MPI_Win_allocate(WINDOW, sizeof(*base), MPI_INFO_NULL, MPI_COMM_WORLD,
                     &base, &win);
    *base = 0;
    usleep(1000 * (useconds_t) (argc > 1 ? atoi(argv[1]) : 0));
    add(win, size);
    if (*base != 1)
        MPI_Abort(MPI_COMM_WORLD, 3);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
