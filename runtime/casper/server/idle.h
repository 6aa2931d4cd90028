/* SPDX-License-Identifier: BSD-3-Clause */
/* What a ghost does when there is nothing to do: spin, then yield the CPU, then
 * block until something comes. */
#ifndef ASPEN_RUNTIME_CASPER_SERVER_IDLE_H
#define ASPEN_RUNTIME_CASPER_SERVER_IDLE_H

#include "runtime/base/await.h"
#include "runtime/casper/arena/arena.h"
#include "runtime/net/net.h"

#include "common/layout/layout.h"

#include <signal.h>

struct aspx_idle {
    struct aspx_doorbell *doorbell;   /* NULL: no user of the node can ring */
    struct aspx_wait_policy active;   /* its row, with the knobs of the job */
    struct aspx_wait_policy fallback; /* where nothing wakes it */
    struct aspx_await_turns turns; /* announced: users know that it may block */
    struct aspx_event unheard;     /* announced at it where nobody can ring */
    sigset_t blocked_signals;      /* while it blocks */
    bool parked;                   /* as far as it was told to others */
    unsigned polls;
    unsigned awaited_rounds; /* in which it might have blocked */
    uint32_t busy;           /* the device has said so in a row, without work */
    enum aspx_net_wait ended; /* the last block, if it was long */
    uint32_t late; /* blocks in a row that work did not end but their bound */
};

/* Take the rows of base/wait_table.h, and the layout's knobs idle.spin_us and
 * idle.yield_us in their place.
 *   rank_world  its own
 *   rings       users ring for messages that the device does not see */
void aspx_idle_start(struct aspx_idle *idle, const struct asp_layout *layout,
                     uint32_t rank_world, bool rings,
                     struct aspx_doorbell *doorbell);

/* After each round of the loop.
 *   worked  it found something to do for users
 *   due_us  until when there is something to do that nothing announces */
void aspx_idle_step(struct aspx_idle *idle, bool worked, uint64_t due_us);

/* CLOCK_MONOTONIC at aspx_idle_start(), and how long this process has found
 * nothing to do since (runtime/profile/poll_sampler.h tells how that is seen).
 */
uint64_t aspx_idle_began_ns(void);
uint64_t aspx_idle_ns(void);

#endif
