/* SPDX-License-Identifier: BSD-3-Clause */
/* Ring, done flags and sleeping on both sides.
 *
 * Both sleeps follow one rule: who goes to sleep announces it, then looks once
 * more; who makes news publishes it, then looks for sleepers. A full fence
 * between the two steps on each side means that one of them sees the other.
 * Every sleep has a bound all the same. */
#include "config.h"

#include "command.h"

#include "offload.h"
#include "order.h"

#include <ck_ring.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    CELLS = 4096, /* commands under way; who finds it full waits */
    LINE = 64,
    /* Looks before a caller sleeps. Where the thread has a CPU of its own: some
     * 40 to 90 us, more than a short operation takes. Where it has not, it can
     * only work when the caller does not, and a sleeper's wake-up is quick,
     * while who yields may wait for a time slice of somebody else. */
    SPINS = 2000,
    SPINS_SHARED = 20,
    YIELDS = 200,
    SLEEP_MS = 100,
};

static ck_ring_t ring;
static ck_ring_buffer_t cells[CELLS];
static bool many_producers;
static uint32_t spins, yields;

/* The thread sleeps on this: written by both sides, but seldom. */
static _Alignas(LINE) _Atomic uint32_t napping;

/* Callers sleep on news, which counts what was done while somebody slept. */
static _Alignas(LINE) _Atomic uint32_t news;
static _Atomic uint32_t sleepers;

/* Commands taken, and how many of them before the last look at all requests:
 * written by the thread only. */
static _Alignas(LINE) _Atomic uint32_t taken, looked;

static long futex(_Atomic uint32_t *word, int op, uint32_t value,
                  const struct timespec *limit)
{
    return syscall(SYS_futex, word, op | FUTEX_PRIVATE_FLAG, value, limit,
                   NULL, 0);
}

void aspx_command_start(bool many, bool alone)
{
    many_producers = many;
    spins = alone ? SPINS : SPINS_SHARED;
    yields = alone ? YIELDS : 0;
    ck_ring_init(&ring, CELLS);
}

static bool enqueue(struct aspx_command *command)
{
    ASPX_HANDED_OVER(command);
    return many_producers ? ck_ring_enqueue_mpsc(&ring, cells, command)
                          : ck_ring_enqueue_spsc(&ring, cells, command);
}

static void wake(void)
{
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&napping, memory_order_relaxed) &&
        atomic_exchange(&napping, 0))
        futex(&napping, FUTEX_WAKE, 1, NULL);
}

void aspx_command_post(struct aspx_command *command)
{
    if (aspx_offload_is_self()) {
        command->run(command);
        return;
    }
    while (!enqueue(command)) {
        wake();
        sched_yield();
    }
    wake();
}

void aspx_command_call(struct aspx_command *command)
{
    atomic_init(&command->state, ASPX_BUSY);
    aspx_command_post(command);
    aspx_command_wait(command);
}

void aspx_command_done(struct aspx_command *command)
{
    /* The command may be gone as soon as it is done: it is not touched again.
     * An exchange, because it is a full fence too. */
    (void) atomic_exchange(&command->state, ASPX_DONE);
    if (atomic_load_explicit(&sleepers, memory_order_relaxed)) {
        atomic_fetch_add(&news, 1);
        futex(&news, FUTEX_WAKE, INT_MAX, NULL);
    }
}

void aspx_rest_step(struct aspx_rest *rest)
{
    static const struct timespec limit = {0, SLEEP_MS * 1000000L};
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
    if (look == spins) {
        atomic_fetch_add(&sleepers, 1);
        aspx_command_nudge();
    } else if (look < spins + yields) {
        sched_yield();
    } else {
        futex(&news, FUTEX_WAIT, rest->seen, &limit);
    }
    rest->seen = atomic_load(&news);
}

void aspx_rest_end(struct aspx_rest *rest)
{
    if (rest->looks > spins && !aspx_offload_is_self())
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

struct aspx_command *aspx_command_next(void)
{
    void *command;

    if (!(many_producers ? ck_ring_dequeue_mpsc(&ring, cells, &command)
                         : ck_ring_dequeue_spsc(&ring, cells, &command)))
        return NULL;
    ASPX_TAKEN(command);
    atomic_store_explicit(&taken, aspx_command_taken() + 1,
                          memory_order_relaxed);
    return command;
}

uint32_t aspx_command_taken(void)
{
    return atomic_load_explicit(&taken, memory_order_relaxed);
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

bool aspx_command_awaited(void)
{
    return atomic_load_explicit(&sleepers, memory_order_relaxed) != 0;
}

bool aspx_command_nap(uint32_t us)
{
    const struct timespec limit = {0, (long) us * 1000};

    atomic_store(&napping, 1); /* seq_cst: a full fence follows */
    if (ck_ring_size(&ring) == 0)
        futex(&napping, FUTEX_WAIT, 1, &limit);
    return atomic_exchange(&napping, 0) == 0;
}
