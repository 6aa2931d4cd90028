/* SPDX-License-Identifier: BSD-3-Clause */
/* How long a process has been inside MPI, readable by other processes of its
 * node at any time: by the ghost that is node controller
 * (adapt/node/node_controller.h). It lies in the process's own memory until
 * aspx_timing_publish() moves it to shared memory. */
#ifndef ASPEN_RUNTIME_PROFILE_MPI_TIME_SHARED_H
#define ASPEN_RUNTIME_PROFILE_MPI_TIME_SHARED_H

#include "runtime/base/clock.h"
#include "busy_union.h"

#include <stdbool.h>

/* Whose ticks they are: two processes may trust different clocks. */
enum { ASPX_MPI_TIME_NONE, ASPX_MPI_TIME_COUNTER, ASPX_MPI_TIME_SYSTEM };

struct aspx_mpi_time {
    /* One load tells all, at any time. Outside MPI: the ticks spent inside.
     * Inside: the bit INSIDE, and now less those ticks, that is, when the
     * process would have entered if it had stayed inside ever since. Where
     * several threads may be inside, this has only the estimate for calls that
     * are not timed, and `busy` the rest. */
    _Alignas(64) _Atomic uint64_t word;
    struct aspx_busy_union busy;
    /* Of the ticks inside, without the call under way, those that were work and
     * not waiting. May decrease a little, where waiting is charged after the
     * call. 0 where several threads may be inside. */
    _Atomic uint64_t work;
    _Atomic uint64_t origin; /* where the ticks of `busy` begin */
    _Atomic uint32_t clock;  /* see above; NONE: nobody publishes here */
};

#define ASPX_MPI_TIME_INSIDE (UINT64_C(1) << 63)

static inline uint32_t aspx_mpi_time_clock(void)
{
    return aspx_clock_counter ? ASPX_MPI_TIME_COUNTER : ASPX_MPI_TIME_SYSTEM;
}

/* A call that began `then` is under way. One thread at a time. */
static inline void aspx_mpi_time_enter(struct aspx_mpi_time *shared,
                                       uint64_t then)
{
    uint64_t sum = atomic_load_explicit(&shared->word, memory_order_relaxed);

    atomic_store_explicit(&shared->word, ASPX_MPI_TIME_INSIDE | (then - sum),
                          memory_order_relaxed);
}

/* It has ended, and stands for `more` ticks of calls that were not timed.
 * Likewise. */
static inline void aspx_mpi_time_leave(struct aspx_mpi_time *shared,
                                       uint64_t now, uint64_t more)
{
    uint64_t word = atomic_load_explicit(&shared->word, memory_order_relaxed);
    uint64_t then = word & ~ASPX_MPI_TIME_INSIDE;

    atomic_store_explicit(&shared->word, aspx_clock_between(then, now) + more,
                          memory_order_relaxed);
}

static inline bool aspx_mpi_time_inside(const struct aspx_mpi_time *shared)
{
    return atomic_load_explicit(&shared->word, memory_order_relaxed) &
           ASPX_MPI_TIME_INSIDE;
}

/* Ticks inside up to now. Any process and thread. */
static inline uint64_t aspx_mpi_time_read(struct aspx_mpi_time *shared,
                                          uint64_t now)
{
    uint64_t word = atomic_load_explicit(&shared->word, memory_order_relaxed);
    uint64_t origin = atomic_load_explicit(&shared->origin,
                                           memory_order_relaxed);

    if (word & ASPX_MPI_TIME_INSIDE)
        word = aspx_clock_between(word & ~ASPX_MPI_TIME_INSIDE, now);
    return word +
           aspx_busy_union_read(&shared->busy, aspx_clock_between(origin, now));
}

#endif
