/* SPDX-License-Identifier: BSD-3-Clause */
/* The way from the program's threads to the offload thread: a ring of pointers
 * to commands (ring.h).
 *
 * A command is a function and its arguments. For a call that waits it lies on
 * the caller's stack, for a call that does not in a slot of the pool
 * (request_pool.h); nothing is allocated or copied. (Paper: Vaidyanathan et
 * al., section 3.1, has the arguments in the ring; then a large command is
 * copied twice.)
 *
 * Threads: any, if MPI_THREAD_MULTIPLE was asked for; else, as MPI says, one at
 * a time. But some calls may come at any time from any thread that there is
 * (MPI_Errhandler_free): only with MPI_THREAD_SINGLE, where there is one, the
 * ring takes no locked instruction. */
#ifndef ASPEN_RUNTIME_OFFLOAD_COMMAND_H
#define ASPEN_RUNTIME_OFFLOAD_COMMAND_H

#include "runtime/base/await.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Fewer cache lines travel where a command begins on one. */
enum { ASPX_COMMAND_LINE = 64 };

enum aspx_command_state {
    ASPX_BUSY, /* on its way, or under way */
    ASPX_DONE,
    ASPX_INACTIVE, /* slots: a persistent request that was not started */
};

/* What an operation does with the block of memory that its arguments begin
 * with. */
enum aspx_command_block {
    ASPX_BLOCK_NONE,
    ASPX_BLOCK_READ,
    ASPX_BLOCK_WRITTEN,
};

struct aspx_command {
    _Atomic uint32_t state;
    uint32_t block; /* enum aspx_command_block; unless none, this is the head of
                       a slot whose arguments begin with a struct aspx_block */
    /* Runs in the offload thread. Ends with aspx_command_done(), or leaves that
     * to whoever sees the operation complete. */
    void (*run)(struct aspx_command *command);
};

/* Of a slot, bytes from the command on: arguments, and what is the thread's. */
enum { ASPX_COMMAND_ARGS = 80, ASPX_COMMAND_OWN = 208 };

struct aspx_block {
    const void *at;
    int count;
    int datatype; /* MPICH's handle */
};

/* Where the offload thread runs, and so what a caller's waiting costs it. */
enum aspx_cpus {
    ASPX_CPUS_OWN,     /* it and the callers have CPUs of their own */
    ASPX_CPUS_VISITED, /* other ranks' callers are on its CPU, or their threads
                          on its callers' CPUs: in tests and benchmarks only */
    ASPX_CPUS_SHARED,  /* it shares CPUs with its callers, and with what else
                          runs there */
};

/* What a thread that waits does besides, by layers above. */
struct aspx_command_hooks {
    /* A caller: the thread waits for one that runs a callback. */
    void (*serve_callback)(void);
    /* The thread itself, in a callback that waits: one turn of its loop. */
    void (*make_progress)(void);
};

/* Prepare the ring.
 *   several  more than one thread may post
 *   many     several threads may wait at once
 *   hooks    borrowed for the life of the process */
void aspx_command_start(bool several, bool many, enum aspx_cpus cpus,
                        const struct aspx_command_hooks *hooks);

/* Hand a command to the thread; run it at once if this is the thread itself (a
 * callback of the program). Waits while the ring is full. */
void aspx_command_post(struct aspx_command *command);

/* The same, then wait until it is done. Error handlers that MPI called for it
 * are called now. */
void aspx_command_call(struct aspx_command *command);

/* The same, of a command that leaves MPI's answer in *code. Returns the answer,
 * which a handler may have changed. */
int aspx_command_answer(struct aspx_command *command, const int *code);

/* Run work(argument) in the offload thread, and wait for it. */
void aspx_command_in_thread(void (*work)(void *argument), void *argument);

/* The same, of work that leaves MPI's answer in *code, and returns it as
 * aspx_command_answer does. */
int aspx_command_answer_in_thread(void (*work)(void *argument), void *argument,
                                  const int *code);

/* Say that a command is done: what the thread wrote is seen by the caller. */
void aspx_command_done(struct aspx_command *command);

/* The same of a command that outlives its caller, which may sleep at this
 * event. */
void aspx_command_ended(struct aspx_command *command, struct aspx_event *event);

/* Something that a waiting caller may look at has been written: wake those that
 * wait for any news. */
void aspx_command_notify(void);

/* Wake all callers that sleep: there is something else to do. */
void aspx_command_notify_all(void);

/* The event of one request, by its address. Some share one: to be woken for
 * another is no harm. */
struct aspx_event *aspx_command_event_of(const void *request);

/* Wait until some command is done. */
void aspx_command_wait(const struct aspx_command *command);

static inline bool aspx_command_is_done(const struct aspx_command *command)
{
    return atomic_load_explicit(&command->state, memory_order_acquire) ==
           ASPX_DONE;
}

/* Waiting for something that the thread brings about:
 *
 *     struct aspx_wait wait = {0};
 *     while (!done)
 *         aspx_wait_step(&wait);
 *     aspx_wait_end(&wait);
 *
 * spins, yields and sleeps by the caller's row of base/wait_table.h: until
 * there is any news; with .event, until that one request has ended, so that the
 * thread need not wake the caller for all the others, which takes it longer
 * than a message. With .tests the look itself has the thread test something:
 * then the sleeps are short. */
struct aspx_wait {
    struct aspx_event *event; /* NULL: any news */
    bool tests;
    uint32_t looks; /* so many in vain */
    struct aspx_await_turns turns;
};

static inline bool aspx_wait_sleeps(const struct aspx_wait *wait)
{
    return wait->turns.event;
}

void aspx_wait_step(struct aspx_wait *wait);
void aspx_wait_end(struct aspx_wait *wait);

/* One turn in vain of a wait by this row: spins or yields, and returns 0; or
 * returns for how many microseconds to block. */
uint32_t aspx_wait_turn(struct aspx_wait *wait,
                        const struct aspx_wait_policy *policy, bool awaited);

/* The thread may be blocked while it has nothing to do but make progress: a
 * caller asks how that is. */
void aspx_command_wake_thread(void);

/* For the thread: the next command, or NULL. */
struct aspx_command *aspx_command_next(void);

/* As aspx_command_call(), for a command that only looks at what is under way.
 * Such a question is not counted below, because it brings about nothing that
 * another had to look for. Not in the thread. */
void aspx_command_ask(struct aspx_command *question);

/* The thread calls this before it answers a question, which then no longer
 * counts in aspx_command_taken(). Returns what that returns. */
uint64_t aspx_command_asked(void);

/* For the thread: how many commands it has taken; and that it has looked at all
 * requests under way since it had carried out so many. */
uint64_t aspx_command_taken(void);
void aspx_command_looked(uint64_t run);

/* How many have been posted: all of which the caller can know, and maybe
 * more. */
uint64_t aspx_command_posted(void);

/* Have more than that been posted and not taken, with questions? */
bool aspx_command_is_behind(uint64_t count);

/* Has the thread carried out so many, and looked at all requests since? Else
 * one that is not done may be so by what the program has just been told. False
 * may also say that it has not told yet. */
bool aspx_command_has_looked(uint64_t posted);

/* For the thread: does any caller sleep? */
bool aspx_command_awaited(void);

/* For the thread: announce that it may sleep, so that it looks for commands and
 * sleeping callers again; or else sleep until a command comes or the thread is
 * woken, us at most. A thread that has work again says so. */
enum aspx_slept aspx_command_block(uint32_t us);
void aspx_command_unblock(void);

#endif
