/* SPDX-License-Identifier: BSD-3-Clause */
/* As closefrom_app.c, with connections in place of files: does anybody send
 * something into them? Two ranks. Prints "connections kept" if nobody does. */
#include <mpi.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { CONNECTIONS = 24, LAST = 256, ROUNDS = 20 };

static int ends[2 * CONNECTIONS];

static void close_unknown(void)
{
    const char *manager = getenv("PMI_FD");

    for (int fd = STDERR_FILENO + 1; fd < LAST; fd++)
        if (!manager || atoi(manager) != fd)
            close(fd);
}

static void connect_to_self(void)
{
    struct sockaddr_in here = {.sin_family = AF_INET,
                               .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr *address = (struct sockaddr *) (void *) &here;
    socklen_t length = sizeof(here);
    int listener = socket(AF_INET, SOCK_STREAM, 0);

    if (bind(listener, address, length) != 0 ||
        listen(listener, CONNECTIONS) != 0 ||
        getsockname(listener, address, &length) != 0)
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (int i = 0; i < CONNECTIONS; i++) {
        ends[2 * i] = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(ends[2 * i], address, length) != 0)
            MPI_Abort(MPI_COMM_WORLD, 2);
        ends[2 * i + 1] = accept(listener, NULL, NULL);
    }
    close(listener);
}

static void add(int target, MPI_Win win)
{
    static const long one = 1;

    MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
    MPI_Accumulate(&one, 1, MPI_LONG, target, 0, 1, MPI_LONG, MPI_SUM, win);
    MPI_Win_unlock(target, win);
}

int main(int argc, char **argv)
{
    const struct timespec rest = {.tv_nsec = 20000000}; /* the ghost blocks */
    char data[ROUNDS];
    int rank, came = 0;
    MPI_Win win;
    long *base;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD,
                     &base, &win);
    add(1 - rank, win); /* UCX 1.18 opens files of its peers as it connects */
    MPI_Barrier(MPI_COMM_WORLD);
    close_unknown();
    connect_to_self();
    for (int i = 0; i < ROUNDS; i++) {
        nanosleep(&rest, NULL);
        add(1 - rank, win);
    }
    for (int i = 0; i < 2 * CONNECTIONS; i++) {
        came += recv(ends[i], data, sizeof(data), MSG_DONTWAIT) > 0;
        close(ends[i]);
    }
    if (came == 0)
        printf("rank %d: connections kept\n", rank);
    MPI_Win_free(&win);
    MPI_Finalize();
    return came != 0;
}
