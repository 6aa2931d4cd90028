/* SPDX-License-Identifier: BSD-3-Clause */
/* What a ghost does when there is nothing to do: spin, then yield the CPU,
 * then nap in growing steps. */
#ifndef ASPEN_RUNTIME_CASPER_SERVER_IDLE_H
#define ASPEN_RUNTIME_CASPER_SERVER_IDLE_H

#include "runtime/casper/arena/arena.h"
#include "idle_hint.h"

#include "common/layout/layout.h"

struct aspx_idle {
    struct aspx_doorbell *doorbell;         /* NULL: naps cannot be cut short */
    uint64_t spin_us, yield_us, nap_max_us; /* the ladder */
    uint64_t rested_max_us, unwanted_max_us, parked_max_us; /* its last step,
                                                             * after long */
    bool parked; /* as far as it was told to others */
    uint64_t last_work_us, nap_us;
    struct aspx_unwanted unwanted;
    unsigned polls;
};

/* Take the ladder from the layout's knobs idle.spin_us, idle.yield_us and
 * idle.nap_us, and idle.parked_nap_us for ghosts that are not active
 * (casper/arena/ghost_scaling.h). Without them a ghost on a CPU of its own
 * spins for 1 ms, and its naps grow to 1 ms; one that may share its CPU spins
 * for 20 us, and they grow to 5 ms.
 *   rank_world  its own */
void aspx_idle_start(struct aspx_idle *idle, const struct asp_layout *layout,
                     uint32_t rank_world, struct aspx_doorbell *doorbell);

/* What else the ghost has to do, or who leads it: how long may it nap? */
struct aspx_leave {
    uint64_t rest_us; /* a nap that is longer than the ladder's, so long */
    bool unwanted;    /* no user of its node is to have ghosts */
};

/* After each poll.
 *   worked  it found something to do for users */
void aspx_idle_step(struct aspx_idle *idle, bool worked,
                    const struct aspx_leave *leave);

/* CLOCK_MONOTONIC at aspx_idle_start(), and how long this process has found
 * nothing to do since (runtime/profile/poll_sampler.h tells how that is seen).
 */
uint64_t aspx_idle_began_ns(void);
uint64_t aspx_idle_ns(void);

/* Events that UCX reported to this process since it started. */
uint64_t aspx_idle_events(void);

#endif
