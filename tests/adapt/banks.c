/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank that is slow between the barrier of a legal point and its look at what
 * all told before it, while another one tells for the next point: rank 1 waits
 * in MPI_Win_fence and is held there by a signal when rank 0 comes. What rank 0
 * told for that fence, after a long stay in MPI, holds for rank 1's
 * accumulates, not what it tells for the next one, after a long rest. 2 ranks,
 * adapt=profile. usage: banks */
#include "tests/rma/rma.h"

#include <signal.h>
#include <sys/time.h>
#include <time.h>

enum {
    TIMES = 10,
    STAY_MS = 900,
    ALARM_US = 100000,
    LATE_MS = 300,
    HELD_MS = 1000,
    REST_MS = 400,
};

static void rest(long ms)
{
    const struct timespec time = {ms / 1000, ms % 1000 * 1000000};

    nanosleep(&time, NULL);
}

static void hold(int signal)
{
    (void) signal;
    rest(HELD_MS);
}

/* One alarm, soon. */
static void be_held(void)
{
    const struct sigaction action = {.sa_handler = hold,
                                     .sa_flags = SA_RESTART};
    const struct itimerval time = {.it_value = {.tv_usec = ALARM_US}};

    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &time, NULL);
}

int main(int argc, char **argv)
{
    long *sum, one = 1;
    MPI_Win win;

    rma_begin(&argc, &argv);
    MPI_Win_allocate(sizeof(*sum), sizeof(*sum), MPI_INFO_NULL, MPI_COMM_WORLD,
                     &sum, &win);
    *sum = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rma_rank == 0) {
        MPI_Recv(&one, 1, MPI_LONG, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        rest(LATE_MS);
    } else {
        rest(STAY_MS);
        MPI_Send(&one, 1, MPI_LONG, 0, 0, MPI_COMM_WORLD);
        be_held();
    }
    MPI_Win_fence(0, win);
    if (rma_rank == 0)
        rest(REST_MS);
    for (int i = 0; i < TIMES && rma_rank == 1; i++)
        MPI_Accumulate(&one, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_SUM, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    EXPECT(*sum == (rma_rank == 0 ? TIMES : 0), "%ld", *sum);
    MPI_Win_free(&win);
    return rma_end("banks");
}
