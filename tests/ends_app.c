/* SPDX-License-Identifier: BSD-3-Clause */
/* usage: ends_app apart | answers | flood FILE | promises | callback
 *
 * Ranks that come to MPI_Finalize at different times. apart: outside MPI until
 * then. answers: the first rank makes progress while the others have ended.
 * flood: the first rank ends with messages sent that nobody has received yet,
 * and makes the file; the others receive them 0.3 s later, and look at each
 * byte. promises: the first rank leaves sends that cannot end before they are
 * received, to ranks that it has never talked to, and to which it has no
 * connection yet. callback: it sends in a callback of MPI_Finalize, and the
 * others come there when they have received that. Knows nothing of Aspen. */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* So many messages as the kernel takes of who is not listened to. */
enum {
    ROUNDS = 20,
    MESSAGES = 400,
    BYTES = 4096,
    LATE_MS = 300,
    LIMIT_MS = 10000
};

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
        MPI_Iprobe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
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

/* A small synchronous one and a large one, which is sent when the receiver asks
 * for it; of each request one is freed and one is forgotten. */
static void promises(const char *unused)
{
    enum { PROMISES = 4, SMALL = 100, LARGE = 4 << 20 };
    static const int lengths[PROMISES] = {SMALL, SMALL, LARGE, LARGE};
    static char text[LARGE];
    MPI_Request request;

    (void) unused;
    for (int i = 0; i < LARGE; i++)
        text[i] = rank == 0 ? expected(0, i) : 0;
    for (int m = 0; rank == 0 && m < PROMISES * (size - 1); m++) {
        MPI_Issend(text, lengths[m % PROMISES], MPI_BYTE, 1 + m / PROMISES, m,
                   MPI_COMM_WORLD, &request);
        if (m % 2)
            MPI_Request_free(&request);
    }
    if (rank == 0)
        return;
    wait_ms(LATE_MS);
    for (int m = 0; m < PROMISES; m++) {
        memset(text, 0, sizeof(text));
        MPI_Recv(text, LARGE, MPI_BYTE, 0, (rank - 1) * PROMISES + m,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < lengths[m]; i++)
            if (text[i] != expected(0, i))
                fail("is wrong", m);
    }
}

static int send_word(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void) comm;
    (void) keyval;
    (void) value;
    (void) extra;
    for (int to = 1; to < size; to++)
        MPI_Ssend(NULL, 0, MPI_BYTE, to, 1, MPI_COMM_WORLD);
    return MPI_SUCCESS;
}

static void callback(const char *unused)
{
    int keyval;

    (void) unused;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, send_word, &keyval, NULL);
    if (rank == 0)
        MPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL);
    else
        MPI_Recv(NULL, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(const char *path);
        bool strangers;
    } variants[] = {{"apart", apart, false},
                    {"answers", answers, false},
                    {"flood", flood, false},
                    {"promises", promises, true},
                    {"callback", callback, false}};

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (size_t w = 0; w < sizeof(variants) / sizeof(variants[0]); w++) {
        if (argc < 2 || strcmp(argv[1], variants[w].name) != 0)
            continue;
        if (!variants[w].strangers)
            talk();
        variants[w].run(argc > 2 ? argv[2] : "");
    }
    MPI_Finalize();
    printf("rank %d ended\n", rank);
    return 0;
}
