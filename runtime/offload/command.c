/* SPDX-License-Identifier: BSD-3-Clause */
/* Ring, done flags and sleeping on both sides.
 *
 * Sleeps are announced as base/sleeper_fence.h says. On CPUs of their own they
 * are rare, and with the sleeper's fence alone an Irecv takes 10 ns less. Where
 * CPUs are shared they are common, and the kernel carries out one such request
 * of the whole node after the other; so there both sides fence. Every sleep has
 * a bound all the same. */
#include "config.h"

#include "command.h"

#include "raised.h"
#include "ring.h"
#include "state.h"

#include "runtime/base/futex.h"
#include "runtime/base/yield_backoff.h"
#include "runtime/mpi/handle.h"
#include "runtime/base/prefetch.h"
#include "runtime/base/sleeper_fence.h"

#include <ck_pr.h>
#include <sched.h>
#include <stddef.h>
#include <time.h>

enum {
    SLEEP_US = 100000,
    NAP_MOST_US = 100,
    PREFETCHED = 4, /* commands */
};

/* What a caller does before it sleeps: first looks, then looks between which it
 * gives the CPU to whoever wants it. */
struct patience {
    uint32_t spins;  /* 22 ns each on the CPUs this was tried on */
    uint32_t yields; /* 450 ns */
};

/* On CPUs of their own as long as the thread spins: a wake-up may take as long
 * as a message of a MiB. */
static const struct patience patience_own = {200, 4000};

/* Likewise, but among many callers another may have the work that this one's
 * CPU should do. To get the CPU back takes longer than most operations do, so
 * it is not given away before. */
static const struct patience patience_many = {1000, 200};

/* Where a thread shares the CPU, the caller's own or another rank's, it needs
 * it for what is waited for. Who yields comes back after each of its turns, or,
 * if the system thinks it fairer, at once; to sleep and be woken takes longer.
 * But not where somebody computes: see aspx_command_yield(). */
static const struct patience patience_shared = {5, 30};

static struct aspx_ring ring;
static const struct aspx_command_hooks *hooks;
static struct patience patience;
static bool shared;         /* CPUs, also with threads that compute */
static bool sleeper_fences; /* for both */

/* The thread sleeps on this: written by both sides, but seldom. */
static _Alignas(ASPX_RING_LINE) _Atomic uint32_t napping;

/* Callers sleep on news, which counts what was done while somebody slept, or at
 * the bell of one operation. */
static _Alignas(ASPX_RING_LINE) _Atomic uint32_t news;
static _Atomic uint32_t sleepers, at_bells;

/* How many commands had been carried out before the last look at all requests:
 * written by the thread only. */
static _Alignas(ASPX_RING_LINE) _Atomic uint64_t looked;

/* Commands that only ask. Posted: counted behind their tickets, so that what is
 * left of those is never too little. */
static _Alignas(ASPX_RING_LINE) _Atomic uint64_t questions;
static uint64_t questions_taken;

void aspx_command_start(bool several, bool many, enum aspx_cpus cpus,
                        const struct aspx_command_hooks *its_hooks)
{
    hooks = its_hooks;
    aspx_ring_start(&ring, several);
    shared = cpus == ASPX_CPUS_SHARED;
    patience = cpus != ASPX_CPUS_OWN ? patience_shared
               : many                ? patience_many
                                     : patience_own;
    sleeper_fences = !shared && aspx_fence_is_sleepers();
}

static void wake(void)
{
    aspx_fence_of_news(sleeper_fences);
    if (atomic_load_explicit(&napping, memory_order_relaxed) &&
        atomic_exchange(&napping, 0))
        aspx_futex_wake(&napping);
}

static void serve_callback(void)
{
    if (atomic_load_explicit(&aspx_callbacks.state, memory_order_relaxed) ==
        ASPX_CALLBACK_ASKED)
        hooks->serve_callback();
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
        serve_callback();
        wake();
        sched_yield();
    }
    aspx_ring_put(&ring, ticket, command);
    wake();
}

static void carry_out(struct aspx_command *command)
{
    atomic_init(&command->state, ASPX_BUSY);
    aspx_command_post(command);
    aspx_command_wait(command);
}

void aspx_command_call(struct aspx_command *command)
{
    carry_out(command);
    (void) aspx_raised_call_of(command, MPI_SUCCESS);
}

int aspx_command_answer(struct aspx_command *command, const int *code)
{
    carry_out(command);
    return aspx_raised_call_of(command, *code);
}

struct call {
    struct aspx_command head;
    void (*work)(void *argument);
    void *argument;
};

static void run_call(struct aspx_command *head)
{
    struct call *call = (void *) head;

    call->work(call->argument);
    aspx_command_done(head);
}

void aspx_command_in_thread(void (*work)(void *argument), void *argument)
{
    struct call call = {
        .head.run = run_call, .work = work, .argument = argument};

    aspx_command_call(&call.head);
}

void aspx_command_ask(struct aspx_command *question)
{
    atomic_init(&question->state, ASPX_BUSY);
    aspx_command_post(question);
    atomic_fetch_add_explicit(&questions, 1, memory_order_release);
    aspx_command_wait(question);
}

uint64_t aspx_command_asked(void)
{
    questions_taken++;
    return aspx_command_taken();
}

void aspx_command_news(void)
{
    aspx_fence_of_news(sleeper_fences);
    if (atomic_load_explicit(&sleepers, memory_order_relaxed)) {
        atomic_fetch_add(&news, 1);
        aspx_futex_wake(&news);
    }
}

void aspx_command_done(struct aspx_command *command)
{
    /* The command may be gone as soon as it is done: it is not touched
     * again. */
    atomic_store_explicit(&command->state, ASPX_DONE, memory_order_release);
    aspx_command_news();
}

bool aspx_command_any_at_bell(void)
{
    return atomic_load_explicit(&at_bells, memory_order_relaxed) != 0;
}

void aspx_command_ring_bell(_Atomic uint32_t *bell)
{
    if (atomic_load_explicit(bell, memory_order_relaxed) &&
        atomic_exchange(bell, 0))
        aspx_futex_wake(bell);
}

void aspx_command_ended(struct aspx_command *command, _Atomic uint32_t *bell)
{
    aspx_command_done(command);
    aspx_command_ring_bell(bell);
}

/* Announce the sleep, or sleep until there is news. What a look has the thread
 * do is news, too: who naps does not count that. */
static void sleep_on_news(struct aspx_rest *rest)
{
    if (!rest->sleeps) {
        atomic_fetch_add(&sleepers, 1);
        aspx_fence_of_sleeper(sleeper_fences);
        aspx_command_nudge();
    } else if (rest->nap_us) {
        aspx_futex_wait(&news, atomic_load(&news), rest->nap_us);
        rest->nap_us *= 2;
        if (rest->nap_us > NAP_MOST_US)
            rest->nap_us = NAP_MOST_US;
    } else {
        aspx_futex_wait(&news, rest->seen, SLEEP_US);
    }
    rest->seen = atomic_load(&news);
}

/* Announce the sleep, once more if the bell was rung for somebody else who had
 * the slot before; or sleep until it is rung. */
static void sleep_at_bell(const struct aspx_rest *rest)
{
    if (!rest->sleeps)
        atomic_fetch_add(&at_bells, 1);
    if (atomic_load(rest->bell)) {
        aspx_futex_wait(rest->bell, 1, SLEEP_US);
        return;
    }
    atomic_store(rest->bell, 1);
    aspx_fence_of_sleeper(sleeper_fences);
    aspx_command_nudge();
}

bool aspx_command_yield(void)
{
    static _Thread_local struct aspx_give_way way ASPX_TLS;

    if (shared)
        return aspx_give_way(&way);
    sched_yield();
    return true;
}

void aspx_rest_step(struct aspx_rest *rest)
{
    if (aspx_offload_is_self()) {
        hooks->make_progress(); /* a callback waits: the progress is ours */
        return;
    }
    serve_callback();
    if (rest->looks == 0)
        aspx_command_nudge();
    if (rest->looks < patience.spins) {
        rest->looks++;
        ck_pr_stall();
        return;
    }
    if (rest->looks < patience.spins + patience.yields &&
        aspx_command_yield()) {
        rest->looks++;
        return;
    }
    if (!rest->sleeps && aspx_callback_is_expected())
        rest->bell = NULL; /* who sleeps at one is not woken for a callback */
    if (rest->bell)
        sleep_at_bell(rest);
    else
        sleep_on_news(rest);
    rest->sleeps = true;
}

void aspx_rest_end(struct aspx_rest *rest)
{
    if (!rest->sleeps)
        return;
    if (rest->bell)
        atomic_store(rest->bell, 0);
    atomic_fetch_sub(rest->bell ? &at_bells : &sleepers, 1);
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

/* A message's data, too: it is copied from its first line on, and waits for the
 * last one, of which no prefetching by the processor knows before. A program
 * that fills a buffer from its beginning wrote that one last. And what the
 * thread wrote down of an operation long ago has left its own caches. */
static void prefetch_operation(const struct aspx_command *command)
{
    const char *at = (const char *) command;
    const struct aspx_block *block = (const void *) (at + ASPX_COMMAND_ARGS);
    uintptr_t first, bytes; /* both may be wrong, which does no harm here */
    const void *last;

    if (command->block == ASPX_BLOCK_NONE)
        return;
    aspx_prefetch_to_write(at + ASPX_COMMAND_OWN);
    first = (uintptr_t) block->at;
    bytes = (uintptr_t) block->count * aspx_handle_basic_size(block->datatype);
    last = (const void *) (bytes ? first + bytes - 1 : first);
    if (command->block == ASPX_BLOCK_READ) {
        aspx_prefetch_to_read(block->at);
        aspx_prefetch_to_read(last);
    } else {
        aspx_prefetch_to_write(block->at);
        aspx_prefetch_to_write(last);
    }
}

/* The commands behind this one lie in the caches of who posted them, on two
 * lines each, the head, which the thread will write, and the arguments: ask for
 * them while this one is being carried out. One line too many does no harm. */
static void prefetch_later(void)
{
    for (uint32_t after = 0; after < PREFETCHED; after++) {
        const char *later = aspx_ring_peek(&ring, after);

        if (!later)
            return;
        aspx_prefetch_to_write(later);
        aspx_prefetch_to_read(later + ASPX_COMMAND_LINE);
        if (after == 0)
            prefetch_operation((const void *) later);
    }
}

struct aspx_command *aspx_command_next(void)
{
    struct aspx_command *command = aspx_ring_take(&ring);

    if (command)
        prefetch_later();
    return command;
}

uint64_t aspx_command_taken(void)
{
    return atomic_load_explicit(&ring.taken, memory_order_relaxed) -
           questions_taken;
}

bool aspx_command_is_behind(uint64_t count)
{
    uint64_t taken = atomic_load_explicit(&ring.taken, memory_order_relaxed);

    return atomic_load_explicit(&ring.tickets, memory_order_relaxed) - taken >
           count;
}

uint64_t aspx_command_posted(void)
{
    uint64_t asked = atomic_load_explicit(&questions, memory_order_acquire);

    return atomic_load_explicit(&ring.tickets, memory_order_relaxed) - asked;
}

void aspx_command_looked(uint64_t run)
{
    atomic_store_explicit(&looked, run, memory_order_release);
}

bool aspx_command_has_looked(uint64_t posted)
{
    return atomic_load_explicit(&looked, memory_order_acquire) >= posted;
}

bool aspx_command_awaited(void)
{
    return atomic_load_explicit(&sleepers, memory_order_relaxed) != 0 ||
           aspx_command_any_at_bell();
}

/* The announcement stays between naps that nobody ended, so that only the first
 * of them has to fence for everybody. */
bool aspx_command_nap(uint32_t us)
{
    if (atomic_load_explicit(&napping, memory_order_relaxed) == 0) {
        atomic_store(&napping, 1);
        aspx_fence_of_sleeper(sleeper_fences);
    }
    if (aspx_ring_is_empty(&ring) &&
        (us <= ASPX_NAP_AWAITED_US || !aspx_command_awaited()))
        aspx_futex_wait(&napping, 1, us);
    return atomic_load(&napping) == 0;
}

void aspx_command_rise(void)
{
    if (atomic_load_explicit(&napping, memory_order_relaxed))
        atomic_store(&napping, 0);
}
