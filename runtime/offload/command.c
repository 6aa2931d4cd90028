/* SPDX-License-Identifier: BSD-3-Clause */
/* The ring, done flags, and sleeping on both sides, by event counts. Where the
 * thread has a CPU of its own sleeps are rare, and those that sleep fence for
 * the others: an Irecv takes 10 ns less. Every sleep has a bound all the
 * same. */
#include "config.h"

#include "command.h"

#include "raised.h"
#include "ring.h"
#include "state.h"

#include "runtime/mpi/handle.h"
#include "runtime/base/prefetch.h"

#include <ck_pr.h>
#include <sched.h>
#include <stddef.h>

enum {
    PREFETCHED = 4,   /* commands whose lines are asked for ahead */
    CLOCK_LOOKS = 16, /* looks of a caller that spins between two of the clock,
                         which takes as long as a look */
    EVENTS = 64,      /* as many as a window of requests has */
};

static struct aspx_ring ring;
static const struct aspx_command_hooks *hooks;
static const struct aspx_wait_policy *policy; /* of callers */
/* CPUs are shared with threads that compute. Elsewhere a yield that comes back
 * late met a rank or a thread that copies a message, and the next will not. */
static bool minds_late_yields;

/* The thread sleeps at this. */
static _Alignas(ASPX_RING_LINE) struct aspx_event for_thread;
static struct aspx_await_turns blocks; /* its own */

/* Callers sleep until any command is done, or until one request has ended. */
static _Alignas(ASPX_RING_LINE) struct aspx_event done, ended[EVENTS];
static _Atomic uint32_t sleepers; /* of both kinds */

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
    enum aspx_event_kind kind;

    hooks = its_hooks;
    blocks = (struct aspx_await_turns){.event = NULL};
    aspx_ring_start(&ring, several);
    policy =
        &aspx_wait_table[cpus != ASPX_CPUS_OWN ? ASPX_WAIT_CALLER_SHARED_CPU
                         : many                ? ASPX_WAIT_CALLER_MANY
                                               : ASPX_WAIT_CALLER_OWN_CPU];
    minds_late_yields = cpus == ASPX_CPUS_SHARED;
    kind = cpus == ASPX_CPUS_SHARED ? ASPX_EVENT_BOTH_FENCE
                                    : ASPX_EVENT_WAITER_FENCES;
    aspx_event_init(&for_thread, kind);
    aspx_event_init(&done, kind);
    for (int i = 0; i < EVENTS; i++)
        aspx_event_init(&ended[i], kind);
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
        aspx_event_notify(&for_thread);
        sched_yield();
    }
    aspx_ring_put(&ring, ticket, command);
    aspx_event_notify(&for_thread);
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

int aspx_command_answer_in_thread(void (*work)(void *argument), void *argument,
                                  const int *code)
{
    struct call call = {
        .head.run = run_call, .work = work, .argument = argument};

    return aspx_command_answer(&call.head, code);
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

void aspx_command_notify(void)
{
    aspx_event_notify(&done);
}

void aspx_command_notify_all(void)
{
    aspx_event_notify(&done);
    for (int i = 0; i < EVENTS; i++)
        aspx_event_notify(&ended[i]);
}

struct aspx_event *aspx_command_event_of(const void *request)
{
    enum { BYTES = 256 }; /* of a request, which lie side by side */

    return &ended[(uintptr_t) request / BYTES % EVENTS];
}

void aspx_command_done(struct aspx_command *command)
{
    /* The command may be gone as soon as it is done: it is not touched
     * again. */
    atomic_store_explicit(&command->state, ASPX_DONE, memory_order_release);
    aspx_event_notify(&done);
}

void aspx_command_ended(struct aspx_command *command, struct aspx_event *event)
{
    aspx_command_done(command); /* which fences for both events */
    if (aspx_event_has_waiters(event))
        aspx_event_wake(event);
}

uint32_t aspx_wait_turn(struct aspx_wait *wait,
                        const struct aspx_wait_policy *row, bool awaited)
{
    static _Thread_local uint64_t yield_from_ns ASPX_TLS;
    struct aspx_backoff *backoff = &wait->turns.backoff;
    uint32_t us;

    wait->looks++;
    if (backoff->idle_since_ns != 0 && wait->turns.step == ASPX_SPIN &&
        wait->looks % CLOCK_LOOKS != 0) {
        ck_pr_stall();
        return 0;
    }
    backoff->yield_from_ns = minds_late_yields ? yield_from_ns : 0;
    us = aspx_await_turn(&wait->turns, row, awaited);
    yield_from_ns = backoff->yield_from_ns;
    return us;
}

static struct aspx_event *event_of(const struct aspx_wait *wait)
{
    return wait->event ? wait->event : &done;
}

/* What a look has the thread do is news, too, and does not end a short
 * sleep. */
static void sleep_until_news(struct aspx_wait *wait, uint32_t us)
{
    struct aspx_event *event = event_of(wait);
    bool first = !aspx_wait_sleeps(wait);

    if (first)
        atomic_fetch_add(&sleepers, 1);
    else if (wait->tests)
        wait->turns.key = aspx_event_key(event);
    (void) aspx_await_sleep(&wait->turns, event, us);
    if (first)
        aspx_command_wake_thread();
}

void aspx_wait_step(struct aspx_wait *wait)
{
    uint32_t us;

    if (aspx_offload_is_self()) {
        hooks->make_progress(); /* a callback waits: the progress is ours */
        return;
    }
    serve_callback();
    if (wait->looks == 0)
        aspx_command_wake_thread();
    us = aspx_wait_turn(
        wait, wait->tests ? &aspx_wait_table[ASPX_WAIT_CALLER_TESTS] : policy,
        false);
    if (us == 0)
        return;
    if (!aspx_wait_sleeps(wait) && aspx_callback_is_expected())
        wait->event = NULL; /* callbacks are news, and no request ends */
    sleep_until_news(wait, us);
}

void aspx_wait_end(struct aspx_wait *wait)
{
    if (!aspx_wait_sleeps(wait))
        return;
    aspx_await_end(&wait->turns);
    atomic_fetch_sub(&sleepers, 1);
}

void aspx_command_wait(const struct aspx_command *command)
{
    struct aspx_wait wait = {0};

    while (!aspx_command_is_done(command))
        aspx_wait_step(&wait);
    aspx_wait_end(&wait);
}

void aspx_command_wake_thread(void)
{
    if (aspx_event_has_waiters(&for_thread))
        aspx_event_notify(&for_thread);
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

/* The commands behind this one lie in the caches of the threads that posted
 * them, on two lines each, the head, which the thread will write, and the
 * arguments: ask for them while this one is being carried out. One line too
 * many does no harm. */
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
    return atomic_load_explicit(&sleepers, memory_order_relaxed) != 0;
}

enum aspx_slept aspx_command_block(uint32_t us)
{
    return aspx_await_sleep(&blocks, &for_thread, us);
}

void aspx_command_unblock(void)
{
    aspx_await_end(&blocks);
}
