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
 *                  the caller on the spot, as the thread is at rest
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

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef void aspx_function_f(void);

enum aspx_callback_kind {
    ASPX_CALLBACK_OP,
    ASPX_CALLBACK_FUNCTION,    /* another: MPI goes on with what it did */
    ASPX_CALLBACK_HANDLER,     /* of errors: MPI is about to return */
    ASPX_CALLBACK_HANDLER_CXX, /* what MPI's C++ library calls one with */
};

struct aspx_callback {
    aspx_function_f *function;
    enum aspx_callback_kind kind;
};

/* Arguments, as words: no callback of MPI has more, in C or Fortran, or any
 * that is not an integer or a pointer. */
enum { ASPX_CALLBACK_WORDS = 8 };

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

/* Call it, in this thread. */
long aspx_callback_call(const struct aspx_callback *callback,
                        const long *words);

/* Of the stubs: MPI calls this one. */
long aspx_callback_called(const struct aspx_callback *callback,
                          const long *words);

enum aspx_callback_state {
    ASPX_CALLBACK_NONE,
    ASPX_CALLBACK_ASKED,   /* the thread waits for a caller */
    ASPX_CALLBACK_TAKEN,   /* by a caller, which runs it */
    ASPX_CALLBACK_ALLOWED, /* the thread runs it, and callers stay in MPI */
    ASPX_CALLBACK_RETURNED,
};

/* Read in each call, and written seldom: on a line of its own. */
extern struct aspx_callbacks {
    _Alignas(64) _Atomic uint32_t state; /* enum aspx_callback_state */
    _Atomic uint32_t expected;           /* see below */
    _Atomic uint32_t raised; /* errors that wait for their callers, raised.h */
} aspx_callbacks;

/* For callers that wait or test: if the thread waits for one, do what it needs.
 * Not in the thread, or a guest. */
void aspx_callback_serve(void);
static inline void aspx_callback_look(void)
{
    if (atomic_load_explicit(&aspx_callbacks.state, memory_order_relaxed) ==
        ASPX_CALLBACK_ASKED)
        aspx_callback_serve();
}

/* A guest has left MPI, and is not counted any more: wait until the thread has
 * run what it runs while there are guests. */
void aspx_callback_guest_left(void);

/* The thread was asked to stop: it may wait for a caller that will not come. */
void aspx_callback_stop(void);

/* Operations under way that may call back while MPI makes progress: reductions
 * with a function of the program. As long as there are any a caller that posts
 * something waits until MPI has taken it, because the thread may come to wait
 * for a caller before, and what MPI has been given goes on without us. */
static inline bool aspx_callback_is_expected(void)
{
    return atomic_load_explicit(&aspx_callbacks.expected,
                                memory_order_relaxed) != 0;
}
static inline void aspx_callback_expect(void)
{
    atomic_fetch_add_explicit(&aspx_callbacks.expected, 1,
                              memory_order_relaxed);
}

#endif
