/* SPDX-License-Identifier: BSD-3-Clause */
/* The offload thread's loop; mpi/helper_thread.h ends it. */
#ifndef ASPEN_RUNTIME_OFFLOAD_THREAD_H
#define ASPEN_RUNTIME_OFFLOAD_THREAD_H

#include "command.h"

/* Start it on a CPU, -1: wherever. Returns 0 or an errno value. */
int aspx_thread_start(int cpu, enum aspx_cpus cpus);

/* Why a block may be long, or not. */
struct aspx_block_reasons {
    bool own_cpu;      /* the thread has a CPU of its own */
    bool direct_calls; /* some are inside MPI (direct_call.h) */
    bool awaited;      /* a caller sleeps */
    bool pending;      /* requests are */
    bool unseen;       /* MPI may have more to do: aspx_offload_has_unseen */
};

/* The row that bounds it. Direct calls mostly make progress for all, and on
 * their CPU each poll may take it from one that is late; but some of them make
 * none, as those on files. */
static inline enum aspx_waiter aspx_thread_block_row(
    struct aspx_block_reasons why)
{
    if (why.direct_calls && !why.own_cpu &&
        (why.awaited || why.pending || why.unseen))
        return ASPX_WAIT_OFFLOAD_DIRECT_CALLS;
    if (why.awaited || (why.direct_calls && (why.pending || why.unseen)))
        return ASPX_WAIT_OFFLOAD_AWAITED;
    if (why.pending)
        return ASPX_WAIT_OFFLOAD_NO_EVENTS;
    return why.unseen ? ASPX_WAIT_OFFLOAD_UNSEEN : ASPX_WAIT_OFFLOAD_IDLE;
}

/* Carry out work in the caller, alone, as the thread would: it stands aside
 * until that has returned. For calls that load or unload libraries: the caller
 * may be in a constructor or destructor, and then has the loader's lock. */
void aspx_thread_replace(void (*work)(void *argument), void *argument);

/* One turn of the thread's loop, for callbacks in it that wait. */
void aspx_offload_turn(void);

/* In the thread: bring the times in aspx_offload_counts up to date. */
void aspx_thread_count(void);

#endif
