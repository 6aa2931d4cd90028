/* SPDX-License-Identifier: BSD-3-Clause */
/* The thread itself: run commands, let MPI make progress, wait.
 *
 *     +--> run a batch of commands --> poll --+-- nothing was done --+
 *     |                                       | work                 v
 *     +---------------------------------------+    spin -> yield -> block
 *     +------------- a command, a wake-up, or the bound -------------+
 *
 * Durations are rows of base/wait_table.c. A command ends a block at once, so
 * its bound is what a message from elsewhere waits for a rank that computes. */
#include "config.h"

#include "thread.h"

#include "callback.h"
#include "pending.h"
#include "raised.h"
#include "state.h"

#include "runtime/base/await.h"
#include "runtime/mpi/helper_thread.h"
#include "runtime/mpi/progress_request.h"
#include "runtime/net/moves.h"
#include "runtime/net/net.h"
#include "runtime/profile/timing.h"

#include <sched.h>

enum {
    BATCH = 16,          /* commands between two polls */
    BATCHES = 4,         /* at most, without a poll */
    BATCHES_US = 10,     /* after the first of them */
    TURNS_PER_POLL = 64, /* at MPI, while nothing is under way: a look takes
                            as long as 20 turns, and a command waits for it */
};

static int on_cpu;
static bool own_cpu;
static uint64_t began_us;

static uint64_t now_us(void)
{
    return aspx_clock_ns(CLOCK_MONOTONIC) / 1000;
}

static bool over;              /* the thread has ended */
static atomic_bool away;       /* a caller is inside MPI in its place */
static struct aspx_event back; /* it is no more */

void aspx_thread_count(void)
{
    if (over || away)
        return; /* what is called now is another thread's */
    aspx_offload_counts.cpu_us = aspx_clock_ns(CLOCK_THREAD_CPUTIME_ID) / 1000;
    aspx_offload_counts.wall_us = now_us() - began_us;
}

static int run_batch(void)
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
static bool run_commands(bool had_ended)
{
    int served = run_batch();
    uint64_t until_us;

    if (served < BATCH || had_ended)
        return served != 0;
    until_us = now_us() + BATCHES_US;
    for (int i = 1; i < BATCHES; i++) {
        if (run_batch() < BATCH || now_us() >= until_us)
            break;
    }
    return true;
}

static bool make_progress(void)
{
    static uint32_t turns;

    if (aspx_pending_poll(aspx_command_taken()) != 0)
        return true;
    if (aspx_pending_count() == 0 && ++turns % TURNS_PER_POLL == 0)
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

struct idle {
    struct aspx_wait wait; /* since there was work */
    uint64_t blocks_ns; /* when naps began, or began anew; 0: it takes none */
};

static void block(struct idle *idle, bool direct_calls, bool awaited)
{
    const struct aspx_wait_policy *row =
        &aspx_wait_table[aspx_thread_block_row((struct aspx_block_reasons){
            .own_cpu = own_cpu,
            .direct_calls = direct_calls,
            .awaited = awaited,
            .pending = aspx_pending_count() != 0,
            .unseen = atomic_load_explicit(&aspx_offload_has_unseen,
                                           memory_order_relaxed),
        })];
    uint64_t now = aspx_clock_ns(CLOCK_MONOTONIC);
    enum aspx_slept slept;
    uint32_t us;

    if (idle->blocks_ns == 0)
        idle->blocks_ns = now;
    us = aspx_backoff_choose(row, (now - idle->blocks_ns) / 1000,
                             (struct aspx_backoff_signs){.awaited = false})
             .block_us;
    slept = aspx_command_block(us);
    aspx_offload_counts.naps += slept != ASPX_NOT_SLEPT;
    if (slept == ASPX_WOKEN) {
        aspx_command_unblock();
        *idle = (struct idle){.blocks_ns = 0};
    } else if (slept == ASPX_SLEPT_OUT &&
               aspx_net_poll_moves(aspx_progress_poll, !direct_calls)) {
        /* Also while nothing is pending: small messages that fill the device's
         * queues, whose senders then wait. More is on its way: short naps
         * again. */
        idle->blocks_ns = aspx_clock_ns(CLOCK_MONOTONIC);
    }
}

/* Nothing was done in this turn. While direct calls are inside MPI they are
 * left its lock. */
static void wait_for_work(struct idle *idle)
{
    const struct aspx_wait_policy *row =
        &aspx_wait_table[own_cpu ? ASPX_WAIT_OFFLOAD_OWN_CPU
                                 : ASPX_WAIT_OFFLOAD_SHARED_CPU];
    bool awaited = aspx_command_awaited(), calls = aspx_direct_call_any();

    if (calls || aspx_wait_turn(&idle->wait, row, awaited) != 0)
        block(idle, calls, awaited);
}

static bool is_wanted(void *unused)
{
    (void) unused;
    return !atomic_load(&away) || aspx_helper_thread_stopping();
}

static void stand_aside(struct aspx_command *command)
{
    aspx_thread_count();
    atomic_store(&away, true);
    aspx_command_done(command);
    while (!is_wanted(NULL))
        (void) aspx_await_once(
            &back, aspx_wait_table[ASPX_WAIT_OFFLOAD_OWN_CPU].max_us, is_wanted,
            NULL);
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
    atomic_store(&away, false);
    aspx_event_notify(&back);
}

static void run_thread(void)
{
    struct idle idle = {.blocks_ns = 0};
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
        bool worked = run_commands(ended);

        ended = make_progress();
        if (worked || ended) {
            if (idle.blocks_ns)
                aspx_command_unblock();
            idle = (struct idle){.blocks_ns = 0};
        } else {
            wait_for_work(&idle);
        }
    }
    while (run_batch()) { /* what was posted before exit() */
    }
    aspx_thread_count();
    over = true;
}

/* The thread was ended by exit(): from here on the thread that exits is alone
 * in MPI, and carries out its calls on the spot. */
static void take_over(void)
{
    aspx_offload_self = true;
}

static void wake_thread(void)
{
    aspx_command_wake_thread();
    aspx_event_notify(&back);
    aspx_callback_stop();
}

int aspx_thread_start(int cpu, enum aspx_cpus cpus)
{
    aspx_event_init(&back, ASPX_EVENT_BOTH_FENCE);
    aspx_net_count();
    on_cpu = cpu;
    own_cpu = cpus == ASPX_CPUS_OWN;
    return aspx_helper_thread_start("aspen-offload", run_thread, wake_thread,
                                    take_over);
}
