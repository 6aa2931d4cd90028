/* SPDX-License-Identifier: BSD-3-Clause */
/* Ring, done flags and sleeping on both sides.
 *
 * Both sleeps follow one rule: who goes to sleep announces it, then looks once
 * more; who makes news publishes it, then looks for sleepers. A full fence
 * between the two steps on each side means that one of them sees the other.
 * Fences cost as much as a message between CPUs, and sleeps are rare; so where
 * the thread has a CPU of its own the sleeper has the kernel put a fence into all
 * threads of the process (membarrier), and who makes news needs none. Where CPUs
 * are shared sleeps are common, and both sides fence. Every sleep has a bound all
 * the same. */
#include "config.h"

#include "command.h"

#include "offload.h"
#include "ring.h"

#include "runtime/futex.h"

#include <ck_pr.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    /* Looks before a caller sleeps. Where the thread has a CPU of its own: some
     * 40 to 90 us, more than a short operation takes. Where it has not, it can
     * only work when the caller does not, and a sleeper's wake-up is quick,
     * while who yields may wait for a time slice of somebody else. Among many
     * callers another may have the work that this one's CPU should do. */
    SPINS = 2000,
    SPINS_MANY = 50,
    SPINS_SHARED = 20,
    YIELDS = 200,
    SLEEP_US = 100000,
    PREFETCHED = 4, /* commands */
};

static struct aspx_ring ring;
static uint32_t spins, yields;
static bool sleeper_fences; /* for everybody, by membarrier */

/* The thread sleeps on this: written by both sides, but seldom. */
static _Alignas(ASPX_RING_LINE) _Atomic uint32_t napping;

/* Callers sleep on news, which counts what was done while somebody slept. */
static _Alignas(ASPX_RING_LINE) _Atomic uint32_t news;
static _Atomic uint32_t sleepers;

/* Commands taken, and how many of them before the last look at all requests:
 * written by the thread only. */
static _Alignas(ASPX_RING_LINE) _Atomic uint32_t looked;

static bool membarrier(int command)
{
    return syscall(SYS_membarrier, command, 0, 0) == 0;
}

void aspx_command_start(bool several, bool many, bool alone)
{
    aspx_ring_start(&ring, several);
    spins = !alone ? SPINS_SHARED : many ? SPINS_MANY : SPINS;
    yields = alone ? YIELDS : 0;
    sleeper_fences =
        alone && membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
}

/* Between publishing news and looking for sleepers. */
static void fence_of_news(void)
{
    if (sleeper_fences)
        atomic_signal_fence(memory_order_seq_cst); /* the compiler's order */
    else
        atomic_thread_fence(memory_order_seq_cst);
}

/* Between announcing a sleep and looking once more. */
static void fence_of_sleeper(void)
{
    atomic_thread_fence(memory_order_seq_cst);
    if (sleeper_fences)
        (void) membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
}

static void wake(void)
{
    fence_of_news();
    if (atomic_load_explicit(&napping, memory_order_relaxed) &&
        atomic_exchange(&napping, 0))
        aspx_futex_wake(&napping);
}

void aspx_command_post(struct aspx_command *command)
{
    uint64_t ticket;

    if (aspx_offload_is_self()) {
        command->run(command);
        return;
    }
    ticket = aspx_ring_ticket(&ring);
    while (!aspx_ring_has_room(&ring, ticket)) {
        wake();
        sched_yield();
    }
    aspx_ring_put(&ring, ticket, command);
    wake();
}

void aspx_command_call(struct aspx_command *command)
{
    atomic_init(&command->state, ASPX_BUSY);
    aspx_command_post(command);
    aspx_command_wait(command);
}

void aspx_command_news(void)
{
    fence_of_news();
    if (atomic_load_explicit(&sleepers, memory_order_relaxed)) {
        atomic_fetch_add(&news, 1);
        aspx_futex_wake(&news);
    }
}

void aspx_command_done(struct aspx_command *command)
{
    /* The command may be gone as soon as it is done: it is not touched again. */
    atomic_store_explicit(&command->state, ASPX_DONE, memory_order_release);
    aspx_command_news();
}

void aspx_rest_step(struct aspx_rest *rest)
{
    uint32_t look = rest->looks++;

    if (aspx_offload_is_self()) {
        aspx_offload_turn(); /* a callback waits: the progress is ours */
        return;
    }
    if (look == 0)
        aspx_command_nudge();
    if (look < spins) {
        ck_pr_stall();
        return;
    }
    if (look < spins + yields) { /* another caller may want the CPU */
        sched_yield();
        return;
    }
    if (look == spins + yields) {
        atomic_fetch_add(&sleepers, 1);
        fence_of_sleeper();
        aspx_command_nudge();
    } else {
        aspx_futex_wait(&news, rest->seen, SLEEP_US);
    }
    rest->seen = atomic_load(&news);
}

void aspx_rest_end(struct aspx_rest *rest)
{
    if (rest->looks > spins + yields && !aspx_offload_is_self())
        atomic_fetch_sub(&sleepers, 1);
}

void aspx_command_wait(const struct aspx_command *command)
{
    struct aspx_rest rest = {0};

    while (!aspx_command_is_done(command))
        aspx_rest_step(&rest);
    aspx_rest_end(&rest);
}

void aspx_command_nudge(void)
{
    if (atomic_load_explicit(&napping, memory_order_relaxed))
        wake();
}

/* The commands behind this one lie in the caches of who posted them, on two lines
 * each, head and arguments: ask for them while this one is being carried out. One
 * line too many does no harm. */
static void prefetch_later(void)
{
    for (uint32_t after = 0; after < PREFETCHED; after++) {
        const char *later = aspx_ring_peek(&ring, after);

        if (!later)
            return;
        __builtin_prefetch(later);
        __builtin_prefetch(later + ASPX_COMMAND_LINE);
    }
}

struct aspx_command *aspx_command_next(void)
{
    struct aspx_command *command = aspx_ring_take(&ring);

    if (command)
        prefetch_later();
    return command;
}

uint32_t aspx_command_taken(void)
{
    return (uint32_t) atomic_load_explicit(&ring.taken, memory_order_relaxed);
}

void aspx_command_looked(uint32_t before)
{
    atomic_store_explicit(&looked, before, memory_order_release);
}

bool aspx_command_is_fresh(void)
{
    return atomic_load_explicit(&looked, memory_order_acquire) ==
           aspx_command_taken();
}

bool aspx_command_all_run(void)
{
    return atomic_load_explicit(&looked, memory_order_acquire) ==
           (uint32_t) atomic_load_explicit(&ring.tickets,
                                           memory_order_relaxed);
}

bool aspx_command_awaited(void)
{
    return atomic_load_explicit(&sleepers, memory_order_relaxed) != 0;
}

/* The announcement stays between naps that nobody ended, so that only the first
 * of them has to fence for everybody. */
bool aspx_command_nap(uint32_t us)
{
    if (atomic_load_explicit(&napping, memory_order_relaxed) == 0) {
        atomic_store(&napping, 1);
        fence_of_sleeper();
    }
    if (aspx_ring_is_empty(&ring))
        aspx_futex_wait(&napping, 1, us);
    return atomic_load(&napping) == 0;
}

void aspx_command_rise(void)
{
    if (atomic_load_explicit(&napping, memory_order_relaxed))
        atomic_store(&napping, 0);
}
