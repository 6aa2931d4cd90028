/* SPDX-License-Identifier: BSD-3-Clause */
/* usage: ends_app apart | answers | flood FILE
 *
 * Ranks that come to MPI_Finalize at different times. apart: outside MPI until
 * then. answers: the first rank makes progress while the others have ended.
 * flood: the first rank ends with messages sent that nobody has received yet,
 * and makes the file; the others receive them 0.3 s later, and look at each
 * byte. Knows nothing of Aspen. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* So many messages as the kernel takes of who is not listened to. */
enum { ROUNDS = 20, MESSAGES = 400, BYTES = 4096, LATE_MS = 300,
       LIMIT_MS = 10000 };

static int rank, size;

static void wait_ms(int ms)
{
    const struct timespec time = {ms / 1000, ms % 1000 * 1000000L};

    nanosleep(&time, NULL);
}

/* Everyone has a connection to everyone, and all of it was used. */
static void talk(void)
{
    int in[64] = {0}, out[64] = {0};

    for (int i = 0; i < ROUNDS; i++)
        MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
}

static void apart(const char *unused)
{
    (void) unused;
    wait_ms((size - 1 - rank) * LATE_MS);
}

static void answers(const char *unused)
{
    double until = MPI_Wtime() + 1e-3 * LATE_MS;
    int flag;

    (void) unused;
    while (rank == 0 && MPI_Wtime() < until) {
        MPI_Iprobe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &flag,
                   MPI_STATUS_IGNORE);
        wait_ms(1);
    }
}

static char expected(int message, int byte)
{
    return (char) (31 * message + byte);
}

static void fail(const char *what, int message)
{
    printf("rank %d, message %d: %s\n", rank, message, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void send_all(void)
{
    static char text[BYTES];

    for (int m = 0; m < MESSAGES; m++) {
        for (int i = 0; i < BYTES; i++)
            text[i] = expected(m, i);
        for (int to = 1; to < size; to++)
            MPI_Send(text, BYTES, MPI_BYTE, to, 1, MPI_COMM_WORLD);
    }
}

static void receive_all(void)
{
    static char text[BYTES];

    for (int m = 0; m < MESSAGES; m++) {
        MPI_Recv(text, BYTES, MPI_BYTE, 0, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        for (int i = 0; i < BYTES; i++)
            if (text[i] != expected(m, i))
                fail("is wrong", m);
    }
}

static void flood(const char *path)
{
    FILE *file;

    if (rank == 0) {
        send_all();
        file = fopen(path, "w");
        if (!file || fclose(file) != 0)
            fail("no file", 0);
        return;
    }
    for (int ms = 0; access(path, F_OK) != 0; ms++) {
        if (ms == LIMIT_MS)
            fail("its sender does not end", 0);
        wait_ms(1);
    }
    wait_ms(LATE_MS);
    receive_all();
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(const char *path);
    } ways[] = {{"apart", apart}, {"answers", answers}, {"flood", flood}};

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    talk();
    for (size_t w = 0; w < sizeof(ways) / sizeof(ways[0]); w++)
        if (argc > 1 && strcmp(argv[1], ways[w].name) == 0)
            ways[w].run(argc > 2 ? argv[2] : "");
    MPI_Finalize();
    printf("rank %d ended\n", rank);
    return 0;
}
