/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts and ends our thread in a rank, with the program's signals blocked, and
 * makes MPI progress for it. */
#include "config.h"

#include "helper_thread.h"

#include "entry.h"

#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#define STACK_LEAST     ((size_t) 64 << 20)
#define STACK_UNLIMITED ((size_t) 256 << 20)
#define EXIT_LIMIT_NS   UINT64_C(1000000000)

atomic_bool aspx_helper_thread_stop_flag;

static pthread_t thread;
static atomic_bool runs, ended, stays;
static bool ever;
static void (*work)(void), (*wake)(void), (*gone)(void);

static void ask_to_stop(void)
{
    atomic_store(&aspx_helper_thread_stop_flag, true);
    wake();
}

static void at_exit(void)
{
    uint64_t began = aspx_clock_ns(CLOCK_MONOTONIC);

    if (!atomic_load(&runs) || pthread_equal(pthread_self(), thread))
        return;
    ask_to_stop();
    while (!atomic_load(&ended) &&
           aspx_clock_ns(CLOCK_MONOTONIC) - began < EXIT_LIMIT_NS)
        sched_yield();
    if (gone && atomic_load(&ended))
        gone();
}

static void in_child(void)
{
    if (atomic_exchange(&runs, false))
        aspx_entry_inert();
}

static void *run(void *unused)
{
    /* The default slack of 50 us would double the shortest naps. */
    (void) prctl(PR_SET_TIMERSLACK, 1000);
    work();
    atomic_store(&ended, true);
    return unused;
}

/* Callbacks of the program run on its stack, which were written for that of the
 * main thread. It is address space only, until it is used. */
static int start_with_stack(void)
{
    struct rlimit limit;
    size_t bytes = STACK_LEAST;
    pthread_attr_t attr;
    int rc;

    if (getrlimit(RLIMIT_STACK, &limit) == 0) {
        if (limit.rlim_cur == RLIM_INFINITY)
            bytes = STACK_UNLIMITED;
        else if (limit.rlim_cur > bytes)
            bytes = limit.rlim_cur;
    }
    rc = pthread_attr_init(&attr);
    if (rc)
        return rc;
    rc = pthread_attr_setstacksize(&attr, bytes);
    if (rc == 0)
        rc = pthread_create(&thread, &attr, run, NULL);
    (void) pthread_attr_destroy(&attr);
    return rc;
}

int aspx_helper_thread_start(const char *name, void (*its_work)(void),
                             void (*its_wake)(void), void (*its_gone)(void))
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    sigset_t all, old;
    int rc;

    atomic_store(&aspx_helper_thread_stop_flag, false);
    atomic_store(&ended, false);
    atomic_store(&stays, false);
    work = its_work;
    wake = its_wake;
    gone = its_gone;
    sigfillset(&all);
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
        sigdelset(&all, faults[i]);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    rc = start_with_stack();
    if (rc) /* no room for so large a stack */
        rc = pthread_create(&thread, NULL, run, NULL);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (rc)
        return rc;
    (void) pthread_setname_np(thread, name);
    atomic_store(&runs, true);
    if (!ever) {
        atexit(at_exit);
        pthread_atfork(NULL, NULL, in_child);
    }
    ever = true;
    return 0;
}

bool aspx_helper_thread_runs(void)
{
    return atomic_load(&runs);
}

void aspx_helper_thread_stop(void)
{
    if (!atomic_exchange(&runs, false))
        return;
    ask_to_stop();
    while (!atomic_load(&ended))
        sched_yield();
    if (atomic_load(&stays))
        pthread_detach(thread);
    else
        pthread_join(thread, NULL);
}

void aspx_helper_thread_stay(void)
{
    atomic_store(&stays, true);
    atomic_store(&ended, true);
    for (;;)
        pause();
}
