/* SPDX-License-Identifier: BSD-3-Clause */
/* What it costs an eager message that the receiver's UCX worker can be armed,
 * and what a descriptor does that one thread sleeps on while another polls.
 * bench/arming runs it with two ranks and arming_preload.c, under callgrind,
 * which sees each measure_*() as one line of its profile.
 *
 * usage: arming_app FILE KIND BYTES LOOPS
 *
 *   FILE  shared by both ranks: they take steps without messages
 *   KIND  stream    windows of 8 messages, received when all have come
 *         single    the same, one message at a time
 *         woken     the receiver arms and sleeps before each
 *         handover  a thread of the receiver sleeps on the descriptor while the
 *                   program's thread receives; prints how often it woke */
#define _GNU_SOURCE
#include "arming.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { WINDOW = 8, ARRIVE_US = 300, SLEEP_MS = 1000, WAKES_MAX = 100000 };

static _Atomic long *steps; /* of rank 0, of rank 1 */
static int rank, bytes, window = WINDOW;
static char *buffer;
static MPI_Request requests[WINDOW];
static MPI_Status statuses[WINDOW];
static arming_arm_f *arm; /* of the preload */
static arming_wait_f *wait_for_event;

static void pause_us(long us)
{
    const struct timespec time = {us / 1000000, us % 1000000 * 1000};

    nanosleep(&time, NULL);
}

/* Take a step, and wait for the other rank to take it. */
static void meet_other(void)
{
    long step = ++steps[rank];

    while (atomic_load(&steps[1 - rank]) < step)
        pause_us(20);
}

void measure_send(void);
__attribute__((noinline)) void measure_send(void)
{
    for (int i = 0; i < window; i++)
        MPI_Isend(buffer, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &requests[i]);
    MPI_Waitall(window, requests, statuses);
}

void measure_receive(void);
__attribute__((noinline)) void measure_receive(void)
{
    MPI_Waitall(window, requests, statuses);
}

void measure_arm(void);
__attribute__((noinline)) void measure_arm(void)
{
    int flag;

    while (!arm())
        MPI_Iprobe(0, 2, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

static void post_receives(void)
{
    for (int i = 0; i < window; i++)
        MPI_Irecv(buffer + (long) i * bytes, bytes, MPI_BYTE, 0, 1,
                  MPI_COMM_WORLD, &requests[i]);
}

static void exchange(bool woken)
{
    if (rank == 0) {
        meet_other(); /* the receives are posted */
        measure_send();
        meet_other();
        return;
    }
    post_receives();
    if (woken)
        measure_arm();
    meet_other();
    if (woken && !wait_for_event(SLEEP_MS))
        fprintf(stderr, "arming_app: not woken\n");
    meet_other(); /* all are sent */
    pause_us(ARRIVE_US);
    measure_receive();
}

/* ---- handover ------------------------------------------------------------- */

static atomic_bool ended;
static long wakes, empty_waits;

/* A sleeper that does not know that others poll: it asks again at once. */
static void *sleep_on(void *unused)
{
    while (!ended && wakes < WAKES_MAX) {
        if (wait_for_event(10))
            wakes++;
        else
            empty_waits++;
    }
    return unused;
}

/* The receiver arms once; all messages are received by polling. */
static void hand_over(long loops)
{
    pthread_t sleeper;

    if (rank == 1) {
        measure_arm();
        pthread_create(&sleeper, NULL, sleep_on, NULL);
    }
    for (long i = 0; i < loops; i++)
        exchange(false);
    pause_us(200000);
    if (rank == 0)
        return;
    ended = true;
    pthread_join(sleeper, NULL);
    printf("wakes %ld%s, waits that ended in vain %ld\n", wakes,
           wakes == WAKES_MAX ? " (the most allowed)" : "", empty_waits);
    measure_arm();
    printf("after arming anew the descriptor is %s\n",
           wait_for_event(0) ? "still readable" : "quiet");
}

/* UCX connects two ranks in steps that both have to take part in. */
static void connect_ranks(void)
{
    for (int i = 0; i < 20; i++) {
        MPI_Sendrecv(buffer, 1, MPI_BYTE, 1 - rank, 3, buffer + 1, 1, MPI_BYTE,
                     1 - rank, 3, MPI_COMM_WORLD, &statuses[0]);
        pause_us(5000);
    }
}

int main(int argc, char **argv)
{
    const char *kind = argc == 5 ? argv[2] : "";
    long loops = argc == 5 ? atol(argv[4]) : 0;
    int fd, level;

    if (argc != 5)
        return 2;
    bytes = atoi(argv[3]);
    fd = open(argv[1], O_RDWR);
    steps = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    buffer = calloc(WINDOW, (size_t) bytes);
    if (steps == MAP_FAILED || !buffer)
        return 1;
    *(void **) &arm = dlsym(RTLD_DEFAULT, "arming_arm");
    *(void **) &wait_for_event = dlsym(RTLD_DEFAULT, "arming_wait");
    if (!arm || !wait_for_event)
        return 1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    connect_ranks();
    if (strcmp(kind, "stream") != 0)
        window = 1;
    if (strcmp(kind, "handover") == 0)
        hand_over(loops);
    else
        for (long i = 0; i < loops; i++)
            exchange(strcmp(kind, "woken") == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
