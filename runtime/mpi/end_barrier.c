/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Finalize polls UCX between closing and the barrier, which tells what to
 * poll; and the first that it reads from the launcher after that is the end of
 * the barrier. (Launchers that speak PMI-1 on a descriptor of ours: hydra,
 * Slurm's pmi2. With others the barrier is as it was.) */
#include "config.h"

#include "end_barrier.h"

#include "plt_patch.h"

#include "runtime/base/backoff.h"
#include "runtime/base/clock.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { WORKERS_MAX = 64 /* of UCX in one process; MPICH makes no more */ };

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

/* Until the launcher says something, or cannot any more. The others may compute
 * for hours yet: a rank that waits for them polls all the time at first, as
 * ranks mostly end together, and then between naps. As others may be in the
 * middle of a large message from it, these stay short. */
static void poll_until_heard(int fd)
{
    struct pollfd heard = {.fd = fd, .events = POLLIN};
    struct aspx_backoff backoff = {0};
    int rc;

    do {
        struct aspx_backoff_choice choice;
        unsigned events = 0;

        for (size_t i = 0; i < nworkers; i++)
            events += progress(workers[i]);
        if (events)
            aspx_backoff_reset(&backoff);
        choice = aspx_backoff_next(&backoff,
                                   &aspx_wait_table[ASPX_WAIT_END_BARRIER],
                                   false, aspx_clock_ns(CLOCK_MONOTONIC));
        if (choice.step == ASPX_YIELD)
            aspx_backoff_yield(&backoff);
        rc = ppoll(&heard, 1,
                   &(struct timespec){.tv_nsec = choice.block_us * 1000L},
                   NULL);
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
    if (progress)
        (void) aspx_plt_patch_lead("read", read_while_polling, &next_read);
}
