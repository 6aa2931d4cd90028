/* SPDX-License-Identifier: BSD-3-Clause */
/* Detached threads, which are only counted. */
#include "config.h"

#include "look_thread.h"

#include "runtime/base/backoff.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

enum { STOP_MS = 5000 }; /* for a thread to see that all is over */

static _Atomic uint32_t threads;

struct look {
    bool (*look)(void *arg);
    void *arg;
};

static void *run(void *arg)
{
    struct look look = *(struct look *) arg;

    free(arg);
    while (look.look(look.arg))
        aspx_backoff_nap(ASPX_WAIT_LOOK_THREAD);
    atomic_fetch_sub(&threads, 1);
    return NULL;
}

/* Signals are the program's threads'. */
static bool start(struct look *look)
{
    sigset_t all, before;
    pthread_t thread;
    int rc;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    atomic_fetch_add(&threads, 1);
    rc = pthread_create(&thread, NULL, run, look);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (rc == 0)
        pthread_detach(thread);
    else
        atomic_fetch_sub(&threads, 1);
    return rc == 0;
}

bool aspx_look_thread_start(bool (*look)(void *arg), void *arg)
{
    struct look *its = malloc(sizeof(*its));

    if (!its)
        return false;
    *its = (struct look){look, arg};
    if (start(its))
        return true;
    free(its);
    return false;
}

void aspx_look_threads_stop(void)
{
    for (int ms = 0; ms < STOP_MS && atomic_load(&threads) > 0; ms++)
        aspx_backoff_nap(ASPX_WAIT_LOOK_THREAD);
}
