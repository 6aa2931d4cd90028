/* SPDX-License-Identifier: BSD-3-Clause */
/* The thread itself: serve commands, let MPI make progress, rest.
 *
 * On a CPU of its own it spins while it has been busy lately, because a wake-up
 * costs more than a message; then yields, then naps for longer and longer, one
 * millisecond at most, two while nothing is under way: that bounds what a
 * message from elsewhere waits for a rank that is computing, while a call of
 * the program ends a nap at once. Where it shares a CPU it naps at once. While
 * a caller sleeps the naps stay short. */
#include "config.h"

#include "thread.h"

#include "flight.h"
#include "offload.h"
#include "report.h"

#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <time.h>

enum {
    BATCH = 16,         /* commands between two polls */
    TURNS_PER_LOOK = 64, /* at MPI, while nothing is under way: a look takes
                            as long as 20 turns, and a command waits for it */
    SPIN_US = 2000,
    YIELD_US = 1000,
    NAP_FIRST_US = 20,
    NAP_MAX_US = 1000,
    NAP_IDLE_US = 2000, /* at most, while nothing is under way */
    TURNS_PER_CLOCK = 32,
};

_Thread_local bool aspx_offload_self ASPX_TLS;

static pthread_t thread;
static atomic_bool stopping;
static MPI_Request idle_request = MPI_REQUEST_NULL; /* the thread's own */
static uint32_t spin_us, yield_us;
static uint64_t began_us;

static uint64_t clock_us(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t) now.tv_sec * 1000000 + (uint64_t) now.tv_nsec / 1000;
}

static uint64_t now_us(void)
{
    return clock_us(CLOCK_MONOTONIC);
}

void aspx_thread_count(void)
{
    aspx_offload_counts.cpu_us = clock_us(CLOCK_THREAD_CPUTIME_ID);
    aspx_offload_counts.wall_us = now_us() - began_us;
}

static bool serve(void)
{
    struct aspx_command *command;
    int served = 0;

    while (served < BATCH && (command = aspx_command_next())) {
        command->run(command);
        served++;
        aspx_offload_counts.commands++;
    }
    return served != 0;
}

/* MPI makes progress in any call: for windows, and for what others send. To
 * ask for the status of a request that nobody completes changes nothing, and
 * needs no communicator (a program of the session model may have none). */
static void look_at_mpi(void)
{
    MPI_Status status;
    int flag;

    if (idle_request != MPI_REQUEST_NULL)
        aspx_real.MPI_Request_get_status(idle_request, &flag, &status);
}

static bool progress(void)
{
    static uint32_t turns;

    if (aspx_flight_poll() != 0)
        return true;
    if (aspx_flight_count() == 0 && ++turns % TURNS_PER_LOOK == 0)
        look_at_mpi();
    return false;
}

void aspx_offload_turn(void)
{
    (void) aspx_flight_poll();
}

static int query(void *unused, MPI_Status *status)
{
    (void) unused;
    aspx_real.MPI_Status_set_elements(status, MPI_BYTE, 0);
    return aspx_real.MPI_Status_set_cancelled(status, 0);
}

static int ignore(void *unused)
{
    (void) unused;
    return MPI_SUCCESS;
}

static int ignore_cancel(void *unused, int complete)
{
    (void) complete;
    return ignore(unused);
}

void aspx_thread_mpi_runs(void)
{
    if (idle_request == MPI_REQUEST_NULL)
        aspx_real.MPI_Grequest_start(query, ignore, ignore_cancel, NULL,
                                     &idle_request);
}

void aspx_thread_mpi_ends(void)
{
    if (idle_request == MPI_REQUEST_NULL)
        return;
    aspx_real.MPI_Grequest_complete(idle_request);
    aspx_real.MPI_Wait(&idle_request, MPI_STATUS_IGNORE);
}

struct rest {
    uint64_t since_us; /* 0: working */
    uint32_t turns, nap_us;
};

/* Nothing was done in this turn. */
static void rest(struct rest *rest)
{
    bool awaited = aspx_command_awaited();
    uint32_t most_us = aspx_flight_count() ? NAP_MAX_US : NAP_IDLE_US;
    uint64_t idle_us;

    if (rest->since_us == 0) {
        *rest = (struct rest) {.since_us = now_us()};
        return;
    }
    if (rest->nap_us == 0 && ++rest->turns % TURNS_PER_CLOCK != 0)
        return;
    idle_us = now_us() - rest->since_us;
    if (idle_us < spin_us)
        return;
    if (idle_us < spin_us + yield_us || (awaited && yield_us)) {
        sched_yield();
        return;
    }
    rest->nap_us = rest->nap_us == 0 || awaited       ? NAP_FIRST_US
                   : 2 * rest->nap_us <= most_us ? 2 * rest->nap_us
                                                   : most_us;
    aspx_offload_counts.naps++;
    if (aspx_command_nap(rest->nap_us)) {
        aspx_command_rise();
        *rest = (struct rest) {0};
    } else {
        look_at_mpi();
    }
}

static void *run(void *cpu_of)
{
    const int *cpu = cpu_of;
    struct rest resting = {0};
    cpu_set_t set;

    aspx_offload_self = true;
    began_us = now_us();
    (void) prctl(PR_SET_NAME, "aspen-offload");
    /* The default slack of 50 us would double the shortest naps. */
    (void) prctl(PR_SET_TIMERSLACK, 1000);
    if (*cpu >= 0) {
        CPU_ZERO(&set);
        CPU_SET(*cpu, &set);
        (void) sched_setaffinity(0, sizeof(set), &set);
    }
    while (!atomic_load_explicit(&stopping, memory_order_relaxed)) {
        bool worked = serve();

        worked |= progress();
        if (worked) {
            if (resting.nap_us)
                aspx_command_rise();
            resting = (struct rest) {0};
        } else {
            rest(&resting);
        }
    }
    return NULL;
}

int aspx_thread_start(int cpu, bool alone)
{
    static int on_cpu;
    sigset_t all, old;
    int rc;

    on_cpu = cpu;
    spin_us = alone ? SPIN_US : 0;
    yield_us = alone ? YIELD_US : 0;
    atomic_store(&stopping, false);
    /* The program's signals are the program's threads'. */
    sigfillset(&all);
    sigdelset(&all, SIGSEGV);
    sigdelset(&all, SIGBUS);
    sigdelset(&all, SIGFPE);
    sigdelset(&all, SIGILL);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    rc = pthread_create(&thread, NULL, run, &on_cpu);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return rc;
}

static void stop(struct aspx_command *command)
{
    atomic_store(&stopping, true);
    aspx_command_done(command);
}

void aspx_thread_stop(void)
{
    struct aspx_command command = {.run = stop};

    aspx_command_call(&command);
    pthread_join(thread, NULL);
}

/* Ask only: at exit() the thread may be inside MPI for good. */
void aspx_thread_park(unsigned limit_ms)
{
    static struct aspx_command command = {.run = stop};
    uint64_t end_us = now_us() + 1000 * (uint64_t) limit_ms;

    aspx_command_post(&command);
    while (!aspx_command_is_done(&command) && now_us() < end_us)
        sched_yield();
}
