/* SPDX-License-Identifier: BSD-3-Clause */
/* Does a send complete while the process of its receiver is stopped, which had
 * posted the receive? Rank 0 sends to rank PEER messages of several sizes:
 *
 *   p2p_stopped PEER [SECONDS]
 *
 * and tests each send for so many seconds at most (10). For each it prints
 * "64 KiB: completed while stopped: yes" or "no"; at the end "stopped: N
 * wrong": bytes that did not come, or came wrong. Its status tells the latter.
 *
 * A child of the peer stops it and has it go on. The two ranks tell each other
 * what they have done in memory of a file, so without MPI: on one machine. */
#define _DEFAULT_SOURCE
#include "../expect.h"
#include "bytes.h"

#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    TAG = 3,
    SPARE = 64,
    LOOK_MS = 2,       /* between two looks at the shared memory */
    STOP_MS = 20000,   /* the peer is stopped for this long at most */
    SETTLE_MS = 20000, /* and stops within this */
};

static const size_t lengths[] = {64 << 10, 1 << 20, 4 << 20};
enum { LENGTHS = sizeof(lengths) / sizeof(lengths[0]) };

/* Turns count from 1. */
static struct meeting {
    atomic_int asked;   /* the peer wants to be stopped in this turn */
    atomic_int stopped; /* it is */
    atomic_int over;    /* the sender has seen enough of this turn */
} * meeting;

/* ---- shared memory, and who stops the peer ---------------------------------- */

static bool wait_for(const atomic_int *word, int turn, long most_ms)
{
    for (long ms = 0; ms < most_ms; ms += LOOK_MS) {
        if (atomic_load(word) >= turn)
            return true;
        pause_ms(LOOK_MS);
    }
    return false;
}

/* Rank 0 makes the file, and no name of it is left when all have it. */
static void map_meeting(void)
{
    char name[64] = "/dev/shm/p2p_stopped.XXXXXX";
    int fd = rank == 0 ? mkstemp(name) : -1;

    if (rank == 0 && ftruncate(fd, sizeof(*meeting)) != 0)
        abort();
    MPI_Bcast(name, sizeof(name), MPI_CHAR, 0, MPI_COMM_WORLD);
    if (rank != 0)
        fd = open(name, O_RDWR);
    meeting = mmap(NULL, sizeof(*meeting), PROT_READ | PROT_WRITE, MAP_SHARED,
                   fd, 0);
    if (meeting == MAP_FAILED)
        abort();
    close(fd);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        unlink(name);
}

/* "PID (NAME) STATE": T where it is stopped. */
static bool is_stopped(pid_t pid)
{
    char path[32], line[256] = "";
    FILE *file;
    char *end;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int) pid);
    file = fopen(path, "r");
    if (!file)
        return false;
    if (!fgets(line, sizeof(line), file))
        line[0] = '\0';
    fclose(file);
    end = strrchr(line, ')');
    return end && end[1] && end[2] == 'T';
}

static void stop_and_go_on(pid_t peer, int turn)
{
    kill(peer, SIGSTOP);
    for (long ms = 0; ms < SETTLE_MS && !is_stopped(peer); ms += LOOK_MS)
        pause_ms(LOOK_MS);
    atomic_store(&meeting->stopped, turn);
    wait_for(&meeting->over, turn, STOP_MS);
    kill(peer, SIGCONT);
}

/* The child. It ends with its parent. */
static pid_t start_stopper(void)
{
    pid_t peer = getpid(), child = fork();

    if (child != 0)
        return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int turn = 1; turn <= LENGTHS; turn++)
        if (wait_for(&meeting->asked, turn, 2 * STOP_MS))
            stop_and_go_on(peer, turn);
    _exit(0);
}

/* ---- the two ranks ---------------------------------------------------------- */

static void receive(int turn, size_t bytes)
{
    unsigned char *at = buffer_new(bytes + SPARE);
    MPI_Request request;
    MPI_Status status;
    int count = -1;

    MPI_Irecv(at, (int) bytes + SPARE, MPI_BYTE, 0, TAG, MPI_COMM_WORLD,
              &request);
    atomic_store(&meeting->asked, turn);
    wait_for(&meeting->over, turn, 2 * STOP_MS); /* outside MPI, stopped */
    MPI_Wait(&request, &status);
    MPI_Get_count(&status, MPI_BYTE, &count);
    EXPECT(count == (int) bytes);
    EXPECT(buffer_wrong(at, bytes + SPARE, bytes, (uint32_t) turn) == 0);
    buffer_free(at);
}

/* Test for so long. */
static int completes_in(MPI_Request *request, double seconds)
{
    double end = MPI_Wtime() + seconds;
    int flag = 0;

    while (!flag && MPI_Wtime() < end) {
        MPI_Test(request, &flag, MPI_STATUS_IGNORE);
        if (!flag)
            pause_ms(1);
    }
    return flag;
}

static void send(int turn, size_t bytes, int peer, double seconds)
{
    unsigned char *at = buffer_new(bytes);
    MPI_Request request;
    int flag;

    buffer_fill(at, bytes, (uint32_t) turn);
    EXPECT(wait_for(&meeting->stopped, turn, SETTLE_MS));
    MPI_Isend(at, (int) bytes, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &request);
    flag = completes_in(&request, seconds);
    printf("%zu KiB: completed while stopped: %s\n", bytes >> 10,
           flag ? "yes" : "no");
    if (flag)
        memset(at, OVERWRITTEN, bytes); /* while its receiver has not seen it */
    atomic_store(&meeting->over, turn);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    memset(at, OVERWRITTEN, bytes);
    buffer_free(at);
}

int main(int argc, char **argv)
{
    int peer = argc > 1 ? atoi(argv[1]) : 1, all = 0, size;
    double seconds = argc > 2 ? atof(argv[2]) : 10;
    pid_t stopper = -1;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (peer <= 0 || peer >= size || seconds * 1000 >= STOP_MS)
        MPI_Abort(MPI_COMM_WORLD, 2);
    map_meeting();
    if (rank == peer)
        stopper = start_stopper();
    for (int turn = 1; turn <= LENGTHS; turn++)
        if (rank == peer)
            receive(turn, lengths[turn - 1]);
        else if (rank == 0)
            send(turn, lengths[turn - 1], peer, seconds);
    if (rank == peer)
        EXPECT(stopper > 0 && waitpid(stopper, NULL, 0) == stopper);
    MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    if (rank == 0)
        printf("stopped: %d wrong\n", all);
    return all != 0;
}
