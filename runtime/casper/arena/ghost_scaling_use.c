/* SPDX-License-Identifier: BSD-3-Clause */
/* The users' side. On the own node the number is looked up. From other nodes it
 * comes with flushes, which bring it from the ghost that they flush, twice in
 * an interval at most: a rank that flushes often pays once in a while, and one
 * that does not has little to send. */
#include "config.h"

#include "ghost_scaling.h"
#include "contig_win.h"

#include "runtime/mpi/real.h"
#include "runtime/base/clock.h"

#include <stddef.h>
#include <stdlib.h>

struct known {
    _Atomic uint32_t active; /* what came last; 0: all */
    _Atomic uint64_t asked;  /* ticks of the clock */
};

static struct known *nodes; /* by node; NULL: all ghosts are always active */
static uint64_t period;     /* in ticks */
static uint32_t main_ghost, reserved_here; /* of the own node */

void aspx_ghost_scaling_follow(const struct aspx_engine *engine,
                               double interval_s)
{
    const struct aspx_world *world = engine->world;
    const uint32_t *first = engine->first_ghost + world->node;
    uint32_t ghost = world->peers[world->rank_all].ghost;

    if (ghost != ASP_RANK_NONE) {
        reserved_here = first[1] - first[0];
        main_ghost = aspx_engine_local(world, ghost);
    }
    if (!engine->settings.scaling || !engine->up)
        return;
    aspx_clock_start();
    period = aspx_clock_ticks_of(interval_s / 2);
    /* Without memory all ghosts are taken for active. Windows, and so flushes
     * that may still write here, are gone before the process is. */
    nodes = calloc(world->nnodes, sizeof(*nodes));
}

uint32_t aspx_ghost_scaling_active(uint32_t node, uint32_t reserved)
{
    uint32_t active = 0;

    if (!nodes)
        return reserved;
    if (node != aspx_engine.world->node)
        active = atomic_load_explicit(&nodes[node].active,
                                      memory_order_relaxed);
    else if (aspx_engine.arena.doorbells)
        active = atomic_load_explicit(
            &aspx_engine.arena.doorbells[0].scaling.active,
            memory_order_relaxed);
    return active && active < reserved ? active : reserved;
}

uint32_t aspx_ghost_scaling_mine(void)
{
    return reserved_here
               ? main_ghost % aspx_ghost_scaling_active(aspx_engine.world->node,
                                                        reserved_here)
               : 0;
}

/* Is it time to ask, and is it us to do it? */
static bool take_turn(struct known *known)
{
    uint64_t now = aspx_clock_ticks();
    uint64_t last = atomic_load_explicit(&known->asked, memory_order_relaxed);

    return aspx_clock_between(last, now) >= period &&
           atomic_compare_exchange_strong(&known->asked, &last, now);
}

void aspx_ghost_scaling_ask(int ghost, bool contig)
{
    const struct aspx_world *world = aspx_engine.world;
    uint32_t node = world->peers[ghost].node;

    if (!nodes || node == world->node || !take_turn(&nodes[node]))
        return;
    aspx_contig_win_get_word(ghost, aspx_engine_local(world, (uint32_t) ghost),
                             offsetof(struct aspx_doorbell, scaling.active),
                             (void *) &nodes[node].active, contig);
}
