/* SPDX-License-Identifier: BSD-3-Clause */
/* How a callback finds its thread. One at a time is asked for, because there is
 * one offload thread, which waits for its end:
 *
 *     NONE -> ASKED -> TAKEN -> RETURNED -> NONE    a caller runs it
 *                      TAKEN -> ALLOWED -> NONE     the thread runs it, while
 *             ASKED -> ALLOWED -> NONE              a caller, or a direct call
 *
 * That nothing can wait for ever: the thread waits here only while no thread of
 * the program waits or tests in MPI, and everything that the program has posted
 * has been given to MPI. Plain MPI makes no progress then either.
 *
 * A callback below MPI_THREAD_MULTIPLE may leave its caller's call for good, by
 * longjmp or an exception. Then the thread never returns, and the caller, which
 * still stands in for it, carries out its calls itself, as without us. */
#include "config.h"

#include "callback.h"

#include "command.h"
#include "pending.h"
#include "raised.h"

#include "runtime/base/await.h"
#include "runtime/mpi/helper_thread.h"

static struct {
    const struct aspx_callback *callback;
    const long *words;
    long answer;
} asked;

static struct aspx_event state_changed; /* shared CPUs: both sides fence */
static bool many;
static _Thread_local bool in_thread ASPX_TLS;

void aspx_callback_start(bool many_threads)
{
    many = many_threads;
    aspx_event_init(&state_changed, ASPX_EVENT_BOTH_FENCE);
}

void aspx_callback_i_am_thread(void)
{
    in_thread = true;
}

static uint32_t state(void)
{
    return atomic_load(&aspx_callbacks.state);
}

static void set_state(uint32_t next)
{
    atomic_store(&aspx_callbacks.state, next);
    aspx_event_notify(&state_changed);
}

static bool change_state(uint32_t from, uint32_t to)
{
    if (!atomic_compare_exchange_strong(&aspx_callbacks.state, &from, to))
        return false;
    aspx_event_notify(&state_changed);
    return true;
}

static bool differs(void *value)
{
    return state() != *(const uint32_t *) value;
}

/* Nobody tells the thread that a direct call has begun: with those its sleeps
 * are short. */
static void wait_while(uint32_t value, struct aspx_wait *wait)
{
    uint32_t us = aspx_wait_turn(wait, &aspx_wait_table[ASPX_WAIT_CALLBACK],
                                 many);

    if (us)
        (void) aspx_await_once(&state_changed, us, differs, &value);
}

/* ---- the thread ------------------------------------------------------------ */

static long run_in_thread(void)
{
    long answer;

    in_thread = false; /* what it calls of MPI may call back, here */
    answer = aspx_callback_call(asked.callback, asked.words);
    in_thread = true;
    set_state(ASPX_CALLBACK_NONE);
    return answer;
}

/* While a direct call is in MPI the program is; but it may leave soon and run
 * the callback. One that is about to leave either waits for us, or was gone
 * before we looked again. */
static bool may_run_beside_direct_calls(const struct aspx_wait *wait)
{
    if (wait->turns.step == ASPX_SPIN || !aspx_direct_call_any() ||
        !change_state(ASPX_CALLBACK_ASKED, ASPX_CALLBACK_ALLOWED))
        return false;
    if (aspx_direct_call_any())
        return true;
    set_state(ASPX_CALLBACK_ASKED);
    return false;
}

static long ask_for_caller(const struct aspx_callback *callback,
                           const long *words)
{
    struct aspx_wait wait = {0};
    uint32_t now;

    asked.callback = callback;
    asked.words = words;
    aspx_offload_counts.callbacks++;
    set_state(ASPX_CALLBACK_ASKED);
    aspx_command_notify_all(); /* also those that sleep since before one was
                                  expected */
    while ((now = state()) != ASPX_CALLBACK_RETURNED) {
        if (now == ASPX_CALLBACK_ALLOWED || may_run_beside_direct_calls(&wait))
            return run_in_thread();
        if (aspx_helper_thread_stopping()) {
            if (now == ASPX_CALLBACK_TAKEN)
                aspx_helper_thread_stay();
            /* the thread that exits waits here, and does not compute */
            if (change_state(ASPX_CALLBACK_ASKED, ASPX_CALLBACK_ALLOWED))
                return run_in_thread();
        }
        wait_while(now, &wait);
    }
    set_state(ASPX_CALLBACK_NONE);
    return asked.answer;
}

long aspx_callback_called(const struct aspx_callback *callback,
                          const long *words)
{
    const struct aspx_command *by;
    long answer;

    if (!in_thread)
        return aspx_callback_call(callback, words);
    if ((callback->kind == ASPX_CALLBACK_HANDLER ||
         callback->kind == ASPX_CALLBACK_HANDLER_CXX) &&
        aspx_raised_note(callback, words))
        return 0;
    by = aspx_raising.by;
    answer = ask_for_caller(callback, words);
    aspx_raising.by = by; /* what it called of MPI may have looked elsewhere */
    return answer;
}

void aspx_callback_stop(void)
{
    aspx_event_notify(&state_changed);
}

/* ---- callers --------------------------------------------------------------- */

static void wait_while_allowed(void)
{
    struct aspx_wait wait = {0};

    while (state() == ASPX_CALLBACK_ALLOWED)
        wait_while(ASPX_CALLBACK_ALLOWED, &wait);
}

void aspx_callback_serve(void)
{
    if (!change_state(ASPX_CALLBACK_ASKED, ASPX_CALLBACK_TAKEN))
        return;
    if (many && asked.callback->kind != ASPX_CALLBACK_OP) {
        set_state(ASPX_CALLBACK_ALLOWED);
        wait_while_allowed();
        return;
    }
    aspx_offload_self = true;
    asked.answer = aspx_callback_call(asked.callback, asked.words);
    aspx_offload_self = false;
    set_state(ASPX_CALLBACK_RETURNED);
}

void aspx_callback_end_direct_call(void)
{
    aspx_callback_serve_if_asked();
    wait_while_allowed();
}
