/* SPDX-License-Identifier: BSD-3-Clause */
/* Who is inside MPI: any number of the program's threads, or the helper alone.
 *
 * A call of the program counts itself in and out. It never waits for another
 * call of the program: what those may do at once is between the program and its
 * thread level, as without us. So a callback that calls MPI from inside MPI is
 * only counted twice. The helper goes in only when nobody is there, and never
 * waits; a call that finds it inside waits for the end of one poll. That is why
 * MPI needs no higher thread level for the helper: its calls and the program's
 * are never at the same time, and each sees what the other wrote. (Not so in a
 * program with MPI_THREAD_MULTIPLE beside ghosts, on_demand.h: calls that began
 * before there was a gate are not counted.)
 */
#ifndef ASPEN_RUNTIME_PROGRESS_GATE_H
#define ASPEN_RUNTIME_PROGRESS_GATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { ASPX_GATE_HELPER = 1, ASPX_GATE_CALL = 2 };

extern _Atomic uint32_t aspx_gate; /* one bit, and the number of calls above */

/* Wait until the helper is out; at once in the helper itself, where callbacks
 * of the program may run. */
void aspx_gate_wait(void);

static inline void aspx_gate_enter(void)
{
    if (atomic_fetch_add_explicit(&aspx_gate, ASPX_GATE_CALL,
                                  memory_order_acquire) &
        ASPX_GATE_HELPER)
        aspx_gate_wait();
}

/* (A store is not enough where one thread at a time calls MPI: some calls may
 * be made beside it at any level, MPI 4.0, 11.4.1, and MPI_T has its own.) */
static inline void aspx_gate_leave(void)
{
    atomic_fetch_sub_explicit(&aspx_gate, ASPX_GATE_CALL, memory_order_release);
}

/* Is a call of the program inside? */
static inline bool aspx_gate_calls(void)
{
    return atomic_load_explicit(&aspx_gate, memory_order_relaxed) >=
           ASPX_GATE_CALL;
}

/* For the helper. Say once that this thread is it. */
void aspx_gate_i_am_helper(void);
bool aspx_gate_is_helper(void);

/* Go in if nobody is there; come out again, soon when a call waits for that
 * (aspx_gate_calls()). */
bool aspx_gate_try(void);
void aspx_gate_out(void);

#endif
