/* SPDX-License-Identifier: BSD-3-Clause */
/* Preloaded into a ghost: does it ever find work only because the time for
 * which it would block was over? Then a wake-up was lost, and the bound of a
 * second hid it.
 *
 * Appends lines to the file that ASPEN_WAKEUPS names:
 *   PID blocks    the first time that it does
 *   PID late      UCX had work in the first look after a block that timed out
 *   PID used MS   at its end: CPU time
 * ASPEN_WAKEUPS_DELAY_US: wait for so long at most before each block; a wake-up
 * that comes meanwhile must not be lost. */
#include "config.h"

#include <dlfcn.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
    NS_PER_US = 1000,
    LONG_NS = 100000000, /* shorter blocks end when something else is due */
};

typedef int ppoll_f(struct pollfd *fds, nfds_t nfds,
                    const struct timespec *limit, const sigset_t *signals);
typedef unsigned progress_f(void *worker);

static bool timed_out;

static void note(const char *what)
{
    const char *name = getenv("ASPEN_WAKEUPS");
    FILE *file = name ? fopen(name, "ae") : NULL;

    if (!file)
        return;
    fprintf(file, "%d %s\n", (int) getpid(), what);
    fclose(file);
}

static void delay(void)
{
    static unsigned seed = 1;
    const char *most = getenv("ASPEN_WAKEUPS_DELAY_US");
    const struct timespec length = {
        .tv_nsec = most ? rand_r(&seed) % (atoi(most) + 1) * NS_PER_US : 0};

    if (most)
        nanosleep(&length, NULL);
}

__attribute__((visibility("default"))) int ppoll(struct pollfd *fds,
                                                 nfds_t nfds,
                                                 const struct timespec *limit,
                                                 const sigset_t *signals)
{
    static ppoll_f *next;
    bool is_long = limit && (limit->tv_sec > 0 || limit->tv_nsec >= LONG_NS);
    int n;

    if (!next) {
        *(void **) &next = dlsym(RTLD_NEXT, "ppoll");
        note("blocks");
    }
    delay();
    n = next(fds, nfds, limit, signals);
    timed_out = n == 0 && is_long;
    return n;
}

/* aspen-ghost finds this one by RTLD_NEXT. */
__attribute__((visibility("default"))) unsigned ucp_worker_progress(
    void *worker);

unsigned ucp_worker_progress(void *worker)
{
    static progress_f *next;
    unsigned count;

    if (!next)
        *(void **) &next = dlsym(RTLD_NEXT, "ucp_worker_progress");
    count = next(worker);
    if (timed_out && count > 0)
        note("late");
    timed_out = false;
    return count;
}

__attribute__((destructor)) static void end(void)
{
    char line[32];

    snprintf(line, sizeof(line), "used %ld", clock() * 1000L / CLOCKS_PER_SEC);
    note(line);
}
