/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Finalize begins with the attributes of MPI_COMM_SELF: one of them is
 * ours, and what is polled from then on tells what to poll, until MPI destroys
 * it. What MPI_Finalize reads from the launcher is answers, the one that ends
 * the barrier among them; waiting for others is short. (Launchers that speak
 * PMI-1 on a descriptor of ours: hydra, Slurm's pmi2. With others the barrier
 * is as it was.) */
#include "config.h"

#include "end_barrier.h"

#include "fixes.h"
#include "plt_patch.h"
#include "progress_request.h"
#include "real.h"

#include "runtime/base/await.h"

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

typedef void destroy_f(void *worker);

static progress_f *progress;
static destroy_f *destroy;
static read_f *next_read;
static void *workers[WORKERS_MAX];
static size_t nworkers;

static unsigned note_and_poll(void *worker)
{
    bool known = false;

    for (size_t i = 0; i < nworkers; i++)
        known |= workers[i] == worker;
    if (!known && nworkers < WORKERS_MAX)
        workers[nworkers++] = worker;
    return progress(worker);
}

static void forget_and_destroy(void *worker)
{
    size_t kept = 0;

    for (size_t i = 0; i < nworkers; i++)
        if (workers[i] != worker)
            workers[kept++] = workers[i];
    nworkers = kept;
    destroy(worker);
}

/* Until the launcher says something, or cannot any more. The others may compute
 * for hours yet: a rank that waits for them polls all the time at first, as
 * ranks mostly end together, and then between naps. As others may be in the
 * middle of a large message from it, these stay short. */
static void poll_until_heard(int fd)
{
    struct pollfd heard = {.fd = fd, .events = POLLIN};
    struct aspx_await_turns turns = {.event = NULL};
    int rc;

    do {
        unsigned events = 0;
        uint32_t us;

        for (size_t i = 0; i < nworkers; i++)
            events += progress(workers[i]);
        if (events)
            aspx_await_end(&turns);
        us = aspx_await_turn(&turns, &aspx_wait_table[ASPX_WAIT_END_BARRIER],
                             false);
        rc = ppoll(&heard, 1, &(struct timespec){.tv_nsec = us * 1000L}, NULL);
    } while (rc == 0 || (rc < 0 && errno == EINTR));
}

static ssize_t read_while_polling(int fd, void *buf, size_t size)
{
    const char *launcher = nworkers > 0 ? getenv("PMI_FD") : NULL;

    if (launcher && fd == atoi(launcher))
        poll_until_heard(fd);
    return next_read(fd, buf, size);
}

/* A probe would not do: it polls only if it finds nothing, and not for
 * MPI_COMM_SELF. */
static void poll_once(void)
{
    if (aspx_progress_request_start())
        aspx_progress_poll();
    aspx_progress_request_stop();
}

/* MPI_Finalize deletes our attribute: MPI still works. */
static int begin(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void) comm;
    (void) keyval;
    (void) value;
    (void) extra;
    if (aspx_plt_patch_lead("ucp_worker_destroy", forget_and_destroy,
                            &destroy) &&
        aspx_plt_patch_lead("ucp_worker_progress", note_and_poll, &progress) &&
        aspx_plt_patch_lead("read", read_while_polling, &next_read))
        poll_once();
    return MPI_SUCCESS;
}

void aspx_end_barrier_patch(void)
{
    bool on_ucx = aspx_plt_patch_find("ucp_worker_progress");
    int keyval;

    aspx_fix_note(ASPX_FIX_END_BARRIER, on_ucx);
    if (!on_ucx ||
        aspx_real.MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, begin, &keyval,
                                         NULL) != MPI_SUCCESS)
        return;
    aspx_real.MPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL);
    aspx_real.MPI_Comm_free_keyval(&keyval);
}
