/* SPDX-License-Identifier: BSD-3-Clause */
/* The one table of how anything in Aspen waits: a row for each waiter.
 * `aspen explain --waits` prints it; docs/design/waiting.md says what follows
 * from it. */
#ifndef ASPEN_RUNTIME_BASE_WAIT_TABLE_H
#define ASPEN_RUNTIME_BASE_WAIT_TABLE_H

#include <stdint.h>

enum aspx_waiter {
    ASPX_WAIT_GHOST_OWN_CPU,
    ASPX_WAIT_GHOST_SHARED_CPU,
    ASPX_WAIT_GHOST_PARKED,
    ASPX_WAIT_GHOST_NO_EVENTS,
    ASPX_WAIT_GHOST_BOARD,
    ASPX_WAIT_OFFLOAD_OWN_CPU,
    ASPX_WAIT_OFFLOAD_SHARED_CPU,
    ASPX_WAIT_OFFLOAD_NO_EVENTS,
    ASPX_WAIT_OFFLOAD_UNSEEN,
    ASPX_WAIT_OFFLOAD_IDLE,
    ASPX_WAIT_OFFLOAD_DIRECT_CALLS,
    ASPX_WAIT_OFFLOAD_AWAITED,
    ASPX_WAIT_CALLER_OWN_CPU,
    ASPX_WAIT_CALLER_MANY,
    ASPX_WAIT_CALLER_SHARED_CPU,
    ASPX_WAIT_CALLER_TESTS,
    ASPX_WAIT_CALLBACK,
    ASPX_WAIT_PROGRESS,
    ASPX_WAIT_PROGRESS_IDLE,
    ASPX_WAIT_PROGRESS_ASLEEP,
    ASPX_WAIT_PROGRESS_OFF,
    ASPX_WAIT_GATE,
    ASPX_WAIT_WATCHDOG,
    ASPX_WAIT_PROCESS_ENDS,
    ASPX_WAIT_END_BARRIER,
    ASPX_WAIT_NODE_SPIN,
    ASPX_WAIT_NODE_YIELD,
    ASPX_WAIT_NODE_SLEEP,
    ASPX_WAIT_COLL_PROBE,
    ASPX_WAIT_OPENMP,
    ASPX_WAIT_LOOK_THREAD,
    ASPX_WAIT_COLL_AHEAD,
    ASPX_WAIT_P2P_PROBE,
    ASPX_WAIT_GHOST_NO_ROOM,
    ASPX_WAIT_OTHER_REPORTS,
    ASPX_WAIT_PASS_ON,
    ASPX_WAIT_LEFT_ALONE,
    ASPX_WAIT_ABORT,
    ASPX_WAIT_MANAGER,
    ASPX_WAIT_FINALIZE,
    ASPX_WAITERS
};

/* Microseconds since the waiter last found work: it spins up to spin_us, yields
 * its CPU for yield_us more, then blocks: for first_us, then for as long as it
 * has been blocking already, but for max_us at most. A waiter that is woken by
 * events blocks for max_us at once (first_us equals max_us). */
struct aspx_wait_policy {
    const char *waiter; /* as a reader knows it */
    uint32_t spin_us, yield_us, first_us, max_us;
    const char *why;
};

extern const struct aspx_wait_policy aspx_wait_table[ASPX_WAITERS];

#endif
