/* SPDX-License-Identifier: BSD-3-Clause */
/* What every file of the offload engine asks: who the calling thread is, what
 * MPI is behind, what the program has done so far. Each variable has one
 * writer, named beside it. */
#ifndef ASPEN_RUNTIME_OFFLOAD_STATE_H
#define ASPEN_RUNTIME_OFFLOAD_STATE_H

#include "runtime/mpi/real.h"

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* A preloaded library may use the thread's static block, and saves a call. */
#define ASPX_TLS __attribute__((tls_model("initial-exec")))

/* What the thread calls: the library, or the wrappers of ghosts in front of it.
 * Written by offload.c. */
extern struct aspx_real aspx_behind;

/* What the program calls now: the entries, for calls made of other calls. */
extern struct aspx_real aspx_offload_entries;

/* Does this thread carry out calls on the spot: is it the offload thread, or
 * does it stand in for it (callbacks, direct calls, MPI_Init)? */
extern _Thread_local bool aspx_offload_self ASPX_TLS;
static inline bool aspx_offload_is_self(void)
{
    return aspx_offload_self;
}

/* Is this thread in a direct call (direct_call.h)? Then it is inside MPI, in a
 * callback of the program: what it calls is carried out on the spot, and its
 * requests are caller-progressed, because the pending ones are the offload
 * thread's. */
extern _Thread_local bool aspx_in_direct_call ASPX_TLS;

/* So many threads are. They make progress for all. */
extern _Atomic uint32_t aspx_direct_calls;
static inline bool aspx_direct_call_any(void)
{
    return atomic_load(&aspx_direct_calls) != 0;
}

/* May several threads of the program call at once? Written at the start. */
extern bool aspx_offload_many;

/* Are blocking calls carried out as their non-blocking twins? */
static inline bool aspx_offload_twins(void)
{
    return aspx_offload_many && !aspx_offload_self;
}

/* Before a call that makes a window or attaches a buffer, or frees a request
 * under way: from then on MPI may have something to do while no request is
 * pending. Other ranks may want something of the window, and the requests of
 * MPI_Bsend are MPI's own. */
extern _Atomic bool aspx_offload_has_unseen;
static inline void aspx_offload_expect_unseen(void)
{
    atomic_store_explicit(&aspx_offload_has_unseen, true, memory_order_relaxed);
}

/* Does the program look at error codes? It has set an error handler. */
extern _Atomic bool aspx_offload_handlers_set;
static inline bool aspx_offload_wants_codes(void)
{
    return atomic_load_explicit(&aspx_offload_handlers_set,
                                memory_order_relaxed);
}

/* Has any request been one that only its caller moves on? */
extern _Atomic bool aspx_offload_had_caller_progressed;

/* Size of MPI_COMM_WORLD, once known: can this be the rank of something?
 * MPI_PROC_NULL and its kin can. */
extern int aspx_offload_ranks;
static inline bool aspx_offload_is_rank(int rank)
{
    return rank >= MPI_ROOT && rank < aspx_offload_ranks;
}

/* What is in MPI_ERROR before MPI fills a status, to see whether it did. */
#define ASPX_ERROR_UNTOUCHED (-0x5eed)

/* What the thread has done; written by it alone. */
struct aspx_offload_counts {
    uint64_t commands; /* taken from the ring */
    uint64_t posted;   /* ... that nobody waited for: requests */
    uint64_t ended;    /* requests that it saw end */
    uint64_t naps;
    uint64_t callbacks; /* that it left to a caller, or ran while one waited */
    uint64_t cpu_us;    /* its CPU time */
    uint64_t wall_us;   /* since it began */
};
extern struct aspx_offload_counts aspx_offload_counts;

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
