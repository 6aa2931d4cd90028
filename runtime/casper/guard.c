/* SPDX-License-Identifier: BSD-3-Clause */
/* See guard.h. The ghosts' pids come from the start-up exchange, in which they
 * were alive. The thread blocks all signals: it must never run a handler of
 * the program. */
#include "config.h"

#include "guard.h"

#include "runtime/mpi/real.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

/* How long MPI_Abort may take before the process just ends. */
enum { ABORT_LIMIT_S = 10, GUARD_STACK = 128 * 1024 };

static pthread_t thread;
static bool running;
static int stop_fd = -1;
static struct pollfd *watched; /* [0] is stop_fd */
static int *ranks;             /* of watched */
static nfds_t nwatched;

/* Not fprintf(): the program may hold stderr's lock while it waits for the
 * dead ghost. */
static void report(int rank, const char *node)
{
    char text[512];
    int n = snprintf(text, sizeof(text),
                     "aspen: ghost process %d (world rank %d, node %s) died; "
                     "operations on windows it serves cannot complete, so the "
                     "job ends. Look for its core file or an out-of-memory "
                     "kill on that node; --async-progress=off runs without "
                     "ghosts\n", (int) aspx_engine.pids[rank], rank, node);

    if (n > 0 && write(STDERR_FILENO, text, (size_t) n) < 0)
        return;
}

static const char *node_name(const struct asp_layout *layout, char *buf,
                             size_t size)
{
    if (layout->nodes && layout->nodes[layout->node].name[0])
        return layout->nodes[layout->node].name;
    if (gethostname(buf, size) != 0)
        return "?";
    buf[size - 1] = '\0';
    return buf;
}

static void *abort_mpi(void *unused)
{
    aspx_real.MPI_Abort(MPI_COMM_WORLD, 1);
    return unused;
}

/* MPI may be stuck under our feet with its lock held, so abort in a second
 * thread and do not trust it to come back. */
static void end_job(void)
{
    pthread_t aborter;

    if (pthread_create(&aborter, NULL, abort_mpi, NULL) == 0)
        sleep(ABORT_LIMIT_S);
    _exit(1);
}

static void *watch(void *unused)
{
    char name[256];

    for (;;) {
        if (poll(watched, nwatched, -1) < 0) {
            if (errno == EINTR)
                continue;
            return unused;
        }
        if (watched[0].revents)
            return unused;
        for (nfds_t i = 1; i < nwatched; i++)
            if (watched[i].revents) {
                report(ranks[i], node_name(aspx_engine.world->layout, name,
                                           sizeof(name)));
                end_job();
            }
    }
}

static void close_all(void)
{
    for (nfds_t i = 0; i < nwatched; i++)
        close(watched[i].fd);
    free(watched);
    free(ranks);
    watched = NULL;
    ranks = NULL;
    nwatched = 0;
}

static int collect(const struct aspx_engine *engine)
{
    const struct aspx_world *world = engine->world;
    size_t size = (size_t) world->size_all + 1;

    watched = calloc(size, sizeof(*watched));
    ranks = calloc(size, sizeof(*ranks));
    stop_fd = eventfd(0, EFD_CLOEXEC);
    if (!watched || !ranks || stop_fd < 0)
        return -1;
    watched[nwatched++] = (struct pollfd) {stop_fd, POLLIN, 0};
    for (int r = 0; r < world->size_all; r++) {
        int fd;

        if (world->peers[r].node != world->node ||
            world->peers[r].role != ASP_ROLE_GHOST)
            continue;
        fd = (int) syscall(SYS_pidfd_open, engine->pids[r], 0);
        if (fd < 0)
            return -1;
        ranks[nwatched] = r;
        watched[nwatched++] = (struct pollfd) {fd, POLLIN, 0};
    }
    return 0;
}

void aspx_guard_start(const struct aspx_engine *engine)
{
    pthread_attr_t attr;
    sigset_t all, old;

    if (collect(engine) != 0) {
        close_all();
        return;
    }
    sigfillset(&all);
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, GUARD_STACK);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    running = pthread_create(&thread, &attr, watch, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attr);
    if (running)
        pthread_setname_np(thread, "aspen-guard");
    else
        close_all();
}

void aspx_guard_stop(void)
{
    const uint64_t one = 1;

    if (!running)
        return;
    if (write(stop_fd, &one, sizeof(one)) == sizeof(one))
        pthread_join(thread, NULL);
    running = false;
    close_all();
}
