/* SPDX-License-Identifier: BSD-3-Clause */
/* The thread itself: serve commands, let MPI make progress, rest.
 *
 * On a CPU of its own it spins while it has been busy lately, because a wake-up
 * costs more than a message; then yields, then naps for longer and longer, one
 * millisecond at most: that bounds what a message from elsewhere waits for a
 * rank that is computing, while a call of the program ends a nap at once. The
 * longest is two while nothing is under way, and four as long as no window was
 * made whose other ranks may want something here. Where it shares a CPU it
 * yields from the beginning. While a caller sleeps it yields, or, where that is
 * no good, its naps stay short. While direct_calls are inside MPI it naps, too,
 * but not for long if there may be anything to see (backoff.h). */
#include "config.h"

#include "thread.h"

#include "callback.h"
#include "pending.h"
#include "backoff.h"
#include "raised.h"
#include "state.h"

#include "runtime/base/futex.h"
#include "runtime/mpi/helper_thread.h"
#include "runtime/profile/timing.h"

#include <sched.h>

enum {
    BATCH = 16,          /* commands between two polls */
    BATCHES = 4,         /* at most, without a poll */
    BATCHES_US = 10,     /* after the first of them */
    TURNS_PER_LOOK = 64, /* at MPI, while nothing is under way: a look takes
                            as long as 20 turns, and a command waits for it */
    SPIN_US = 2000,
    YIELD_US = 1000,
    TURNS_PER_CLOCK = 32,
    ASIDE_US = 10000, /* until it looks whether exit() wants it to end */
};

static int on_cpu;
static uint32_t spin_us;
static uint64_t began_us;

static uint64_t now_us(void)
{
    return aspx_clock_ns(CLOCK_MONOTONIC) / 1000;
}

static bool over;             /* the thread has ended */
static _Atomic uint32_t away; /* a caller is inside MPI in its place */

void aspx_thread_count(void)
{
    if (over || away)
        return; /* what is called now is another thread's */
    aspx_offload_counts.cpu_us = aspx_clock_ns(CLOCK_THREAD_CPUTIME_ID) / 1000;
    aspx_offload_counts.wall_us = now_us() - began_us;
}

static int serve_batch(void)
{
    struct aspx_command *command;
    int served = 0;

    while (served < BATCH && (command = aspx_command_next())) {
        aspx_raising.by = command;
        command->run(command);
        served++;
        aspx_offload_counts.commands++;
    }
    return served;
}

/* To look at many requests takes longer than to post a batch: where nothing had
 * ended at the last poll, commands that are quick come first. */
static bool serve(bool had_ended)
{
    int served = serve_batch();
    uint64_t until_us;

    if (served < BATCH || had_ended)
        return served != 0;
    until_us = now_us() + BATCHES_US;
    for (int i = 1; i < BATCHES; i++) {
        if (serve_batch() < BATCH || now_us() >= until_us)
            break;
    }
    return true;
}

static bool progress(void)
{
    static uint32_t turns;

    if (aspx_pending_poll(aspx_command_taken()) != 0)
        return true;
    if (aspx_pending_count() == 0 && ++turns % TURNS_PER_LOOK == 0)
        aspx_progress_poll();
    return false;
}

void aspx_offload_turn(void)
{
    if (aspx_in_direct_call) {
        sched_yield(); /* the offload thread makes its own */
        return;
    }
    /* one command is being carried out */
    (void) aspx_pending_poll(aspx_command_taken() - 1);
}

struct rest {
    uint64_t since_us; /* 0: working */
    uint32_t turns, nap_us;
};

static void nap(struct rest *rest, bool direct_calls, bool awaited)
{
    uint32_t longest_us = aspx_nap_longest_us((struct aspx_nap_reasons){
        .own = spin_us != 0,
        .direct_calls = direct_calls,
        .awaited = awaited,
        .pending = aspx_pending_count() != 0,
        .window = atomic_load_explicit(&aspx_offload_had_window,
                                       memory_order_relaxed),
    });

    rest->nap_us = aspx_nap_next_us(rest->nap_us, longest_us);
    aspx_offload_counts.naps++;
    if (aspx_command_nap(rest->nap_us)) {
        aspx_command_rise();
        *rest = (struct rest){0};
    } else {
        aspx_progress_poll();
    }
}

/* Nothing was done in this turn. */
static void rest(struct rest *rest)
{
    bool awaited = aspx_command_awaited(),
         direct_calls = aspx_direct_call_any();
    uint64_t idle_us;

    if (rest->since_us == 0) {
        *rest = (struct rest){.since_us = now_us()};
        return;
    }
    if (direct_calls) { /* leave them the lock */
        nap(rest, direct_calls, awaited);
        return;
    }
    if (rest->nap_us == 0 && ++rest->turns % TURNS_PER_CLOCK != 0)
        return;
    idle_us = now_us() - rest->since_us;
    if (idle_us < spin_us)
        return;
    if ((idle_us >= spin_us + YIELD_US && !awaited) || !aspx_command_yield())
        nap(rest, direct_calls, awaited);
}

static void stand_aside(struct aspx_command *command)
{
    aspx_thread_count();
    atomic_store(&away, 1);
    aspx_command_done(command);
    while (atomic_load(&away) && !aspx_helper_thread_stopping())
        aspx_futex_wait(&away, 1, ASIDE_US);
}

void aspx_thread_replace(void (*work)(void *argument), void *argument)
{
    struct aspx_command command = {.run = stand_aside};

    if (aspx_offload_is_self()) {
        work(argument);
        return;
    }
    aspx_command_call(&command);
    aspx_offload_self = true;
    work(argument);
    aspx_offload_self = false;
    atomic_store(&away, 0);
    aspx_futex_wake(&away);
}

static void work(void)
{
    struct rest resting = {0};
    bool ended = false;
    cpu_set_t set;

    aspx_timing_ignore_thread();
    aspx_offload_self = true;
    aspx_callback_i_am_thread();
    began_us = now_us();
    if (on_cpu >= 0) {
        CPU_ZERO(&set);
        CPU_SET(on_cpu, &set);
        (void) sched_setaffinity(0, sizeof(set), &set);
    }
    while (!aspx_helper_thread_stopping()) {
        bool worked = serve(ended);

        ended = progress();
        if (worked || ended) {
            if (resting.nap_us)
                aspx_command_rise();
            resting = (struct rest){0};
        } else {
            rest(&resting);
        }
    }
    while (serve_batch()) { /* what was posted before exit() */
    }
    aspx_thread_count();
    over = true;
}

/* The thread was ended by exit(): from here on who exits is alone in MPI, and
 * carries out its calls on the spot. */
static void take_over(void)
{
    aspx_offload_self = true;
}

static void wake(void)
{
    aspx_command_nudge();
    aspx_callback_stop();
}

int aspx_thread_start(int cpu, enum aspx_cpus cpus)
{
    on_cpu = cpu;
    spin_us = cpus == ASPX_CPUS_OWN ? SPIN_US : 0;
    return aspx_helper_thread_start("aspen-offload", work, wake, take_over);
}
