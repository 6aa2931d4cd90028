/* SPDX-License-Identifier: BSD-3-Clause */
/* usage: ends_app apart | answers | flood
 *
 * Ranks that come to MPI_Finalize at different times. apart: outside MPI until
 * then. answers: the first rank makes progress while the others have ended.
 * flood: the first rank ends with messages sent that nobody has received yet;
 * the others receive them later, and look at each byte. Knows nothing of Aspen. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 20, MESSAGES = 1500, BYTES = 4096, LATE_MS = 300 };

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

static void apart(void)
{
    wait_ms((size - 1 - rank) * LATE_MS);
}

static void answers(void)
{
    double until = MPI_Wtime() + 1e-3 * LATE_MS;
    int flag;

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

static void flood(void)
{
    static char text[BYTES];

    if (rank > 0)
        wait_ms(LATE_MS);
    for (int m = 0; m < MESSAGES; m++) {
        if (rank > 0) {
            MPI_Recv(text, BYTES, MPI_BYTE, 0, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
            for (int i = 0; i < BYTES; i++)
                if (text[i] != expected(m, i)) {
                    printf("rank %d: message %d is wrong\n", rank, m);
                    MPI_Abort(MPI_COMM_WORLD, 1);
                }
            continue;
        }
        for (int i = 0; i < BYTES; i++)
            text[i] = expected(m, i);
        for (int to = 1; to < size; to++)
            MPI_Send(text, BYTES, MPI_BYTE, to, 1, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } ways[] = {{"apart", apart}, {"answers", answers}, {"flood", flood}};

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    talk();
    for (size_t w = 0; w < sizeof(ways) / sizeof(ways[0]); w++)
        if (argc > 1 && strcmp(argv[1], ways[w].name) == 0)
            ways[w].run();
    MPI_Finalize();
    printf("rank %d ended\n", rank);
    return 0;
}
