/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Finalize polls UCX between closing and the barrier, which tells what to
 * poll; and the first that it reads from the launcher after that is the end of
 * the barrier. (Launchers that speak PMI-1 on a descriptor of ours: hydra,
 * Slurm's pmi2. With others the barrier is as it was.) */
#include "config.h"

#include "end_barrier.h"

#include "plt_patch.h"

#include "runtime/base/clock.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* The others may compute for hours yet: a rank that waits for them polls all
 * the time at first, as ranks mostly end together, and then between naps. As
 * others may be in the middle of a large message from it, these stay short. */
enum {
    AWAKE_NS = 2000000,
    NAP_FIRST_NS = 20000,
    NAP_LAST_NS = 100000,
    WORKERS_MAX = 64, /* of UCX in one process; MPICH makes no more */
};

typedef unsigned progress_f(void *worker);
typedef ssize_t read_f(int fd, void *buf, size_t size);

static progress_f *progress;
static read_f *next_read;
static void *workers[WORKERS_MAX];
static size_t nworkers;
/* From the start of the close to the end of the barrier. */
static bool closing;

static unsigned note_and_poll(void *worker)
{
    bool known = false;

    for (size_t i = 0; i < nworkers; i++)
        known |= workers[i] == worker;
    if (closing && !known && nworkers < WORKERS_MAX)
        workers[nworkers++] = worker;
    return progress(worker);
}

/* Until the launcher says something, or cannot any more. */
static void poll_until_heard(int fd)
{
    const uint64_t began_ns = aspx_clock_ns(CLOCK_MONOTONIC);
    struct pollfd heard = {.fd = fd, .events = POLLIN};
    struct timespec nap = {0};
    int rc;

    do {
        unsigned events = 0;

        for (size_t i = 0; i < nworkers; i++)
            events += progress(workers[i]);
        if (events)
            nap.tv_nsec = 0;
        else if (aspx_clock_ns(CLOCK_MONOTONIC) - began_ns < AWAKE_NS)
            sched_yield();
        else if (nap.tv_nsec == 0)
            nap.tv_nsec = NAP_FIRST_NS;
        else if (2 * nap.tv_nsec <= NAP_LAST_NS)
            nap.tv_nsec *= 2;
        rc = ppoll(&heard, 1, &nap, NULL);
    } while (rc == 0 || (rc < 0 && errno == EINTR));
}

static ssize_t read_while_polling(int fd, void *buf, size_t size)
{
    const char *launcher = closing ? getenv("PMI_FD") : NULL;

    if (launcher && nworkers > 0 && fd == atoi(launcher)) {
        poll_until_heard(fd);
        closing = false;
        nworkers = 0; /* MPI destroys them now */
    }
    return next_read(fd, buf, size);
}

void aspx_end_barrier_note_close(void)
{
    if (closing || !next_read)
        return;
    closing = aspx_plt_patch_replace("ucp_worker_progress", note_and_poll);
}

void aspx_end_barrier_patch(void)
{
    *(void **) &progress = aspx_plt_patch_find("ucp_worker_progress");
    *(void **) &next_read = aspx_plt_patch_find("read");
    if (!progress || !aspx_plt_patch_replace("read", read_while_polling))
        next_read = NULL;
}
