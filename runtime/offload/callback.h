/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of the program that MPI calls: reductions, error handlers, copy and
 * delete functions of attributes, those of generalized requests. They were
 * written for the program's threads: they may use its static data, thread-local
 * variables and recursive mutexes. So none of them runs in the offload thread
 * while the program computes.
 *
 * Where MPI calls one in the offload thread, what happens depends on its kind:
 *
 *   error handler  noted; the caller whose call or request has failed calls it
 *                  when that call is about to return (raised.h)
 *   reduction      the thread waits for the next caller that waits or tests, and
 *                  that caller runs it; what it calls of MPI is carried out by
 *                  the caller on the spot, as the thread stands still
 *   any other      likewise below MPI_THREAD_MULTIPLE. With it the thread runs
 *                  it itself while that caller stays in MPI, because it may hold
 *                  MPI's lock, which the function may want (a reduction is
 *                  called without the lock)
 *
 * Guests (direct_call.h) run what is waiting before they enter MPI and when
 * they have left it. While they are inside the thread runs everything itself:
 * they may wait for what it does.
 *
 * MPI has to call some function; which one tells of which of the program's it
 * stands for (stubs.c). */
#ifndef ASPEN_RUNTIME_OFFLOAD_CALLBACK_H
#define ASPEN_RUNTIME_OFFLOAD_CALLBACK_H

#include "function.h"
#include "state.h"

/* many: the program may call from several threads at once. */
void aspx_callback_start(bool many);

/* Say once that this is the offload thread. */
void aspx_callback_i_am_thread(void);

/* What MPI shall call for a function of the program: the same for the same
 * function. NULL and what is MPI's own stay themselves. So does what comes when
 * all stubs are taken, with a line on stderr: it runs in the offload thread.
 * Threads: any. */
aspx_function_f *aspx_callback_stub(aspx_function_f *function,
                                    enum aspx_callback_kind kind);

/* Of the stubs: MPI calls this one. */
long aspx_callback_called(const struct aspx_callback *callback,
                          const long *words);

/* For callers that wait or test: if the thread waits for one, do what it needs.
 * Not in the thread, or in a direct call. */
void aspx_callback_serve(void);
static inline void aspx_callback_serve_if_asked(void)
{
    if (atomic_load_explicit(&aspx_callbacks.state, memory_order_relaxed) ==
        ASPX_CALLBACK_ASKED)
        aspx_callback_serve();
}

/* A direct call has left MPI, and is not counted any more: wait until the
 * thread has run what it runs while there are direct_calls. */
void aspx_callback_end_direct_call(void);

/* The thread was asked to stop: it may wait for a caller that will not come. */
void aspx_callback_stop(void);

#endif
