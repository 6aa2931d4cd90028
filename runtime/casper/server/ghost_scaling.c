/* SPDX-License-Identifier: BSD-3-Clause */
/* The ghosts' side. */
#include "config.h"

#include "runtime/base/log.h"
#include "runtime/casper/arena/ghost_scaling.h"

#include "runtime/casper/arena/engine.h"

#include "runtime/adapt/decide/ghost_scaling.h"
#include "runtime/base/clock.h"

#include <stdlib.h>

static struct {
    struct aspx_scaler scaler;
    struct aspx_doorbell
        *doorbells;           /* of the node's ghosts; NULL: nobody decides */
    uint64_t begun, interval; /* in ticks of the clock */
    uint64_t begun_ns;
    double *busy;   /* by ghost, shares of the last interval */
    uint64_t *work; /* by ghost, nanoseconds at work up to its begin */
} lead;

void aspx_ghost_scaling_start(const struct aspx_engine *engine)
{
    const struct aspx_world *world = engine->world;
    const struct asp_knobs *knobs = &world->layout->knobs;
    const uint32_t *first = engine->first_ghost + world->node;
    uint32_t ghosts = first[1] - first[0];

    if (!engine->settings.scaling || !engine->arena.doorbells || ghosts < 2 ||
        engine->ghosts[first[0]] != (uint32_t) world->rank_all)
        return;
    lead.busy = calloc(ghosts, sizeof(*lead.busy));
    lead.work = calloc(ghosts, sizeof(*lead.work));
    if (!lead.busy || !lead.work)
        return; /* then all are active */
    aspx_scaler_init(&lead.scaler, ghosts, knobs->ghost_high / 1e2,
                     knobs->ghost_low / 1e2);
    lead.interval = aspx_clock_ticks_of(knobs->adapt_interval_ms / 1e3);
    lead.begun = aspx_clock_ticks();
    lead.begun_ns = aspx_clock_ns(CLOCK_MONOTONIC);
    lead.doorbells = engine->arena.doorbells;
}

static void park(struct aspx_ghost_scaling *scaling, uint64_t now)
{
    atomic_store(&scaling->parked_since_ns, now);
}

static void call_up(struct aspx_doorbell *doorbell, uint64_t now)
{
    struct aspx_ghost_scaling *scaling = &doorbell->scaling;
    uint64_t since = atomic_load(&scaling->parked_since_ns);

    atomic_store(&scaling->parked_since_ns, 0);
    atomic_fetch_add(&scaling->parked_ns, now - since);
    aspx_doorbell_ring(doorbell); /* its nap may be a long one */
}

static void note(uint32_t active, uint64_t now)
{
    struct aspx_ghost_scaling *scaling = &lead.doorbells[0].scaling;
    uint64_t us = (now - atomic_load(&lead.doorbells[0].heartbeat.since_ns)) /
                  1000;
    uint32_t n = atomic_load(&scaling->changes);

    if (n < ASPX_SCALING_CHANGES)
        atomic_store(&scaling->change[n], us << 8 | active);
    atomic_store(&scaling->changes, n + 1);
}

static void change(uint32_t from, uint32_t to, uint64_t now)
{
    aspx_trace("active ghosts of the node: %u, not %u", to, from);
    for (uint32_t g = 0; g < lead.scaler.reserved; g++) {
        struct aspx_doorbell *doorbell = &lead.doorbells[g];

        atomic_store(&doorbell->scaling.active, to);
        if (g >= to && g < from)
            park(&doorbell->scaling, now);
        else if (g < to && g >= from)
            call_up(doorbell, now);
    }
    note(to, now);
}

void aspx_ghost_scaling_step(void)
{
    uint64_t ticks, now;
    uint32_t was = lead.scaler.active;

    if (!lead.doorbells)
        return;
    ticks = aspx_clock_ticks();
    if (aspx_clock_between(lead.begun, ticks) < lead.interval)
        return;
    now = aspx_clock_ns(CLOCK_MONOTONIC);
    for (uint32_t g = 0; g < lead.scaler.reserved; g++) {
        uint64_t work = aspx_heartbeat_work_ns(&lead.doorbells[g].heartbeat,
                                               now);

        lead.busy[g] = 0;
        if (work > lead.work[g] && now > lead.begun_ns)
            lead.busy[g] = (double) (work - lead.work[g]) /
                           (double) (now - lead.begun_ns);
        if (lead.busy[g] > 1)
            lead.busy[g] = 1;
        if (work > lead.work[g])
            lead.work[g] = work;
    }
    lead.begun = ticks;
    lead.begun_ns = now;
    if (aspx_scaler_update(&lead.scaler, lead.busy) != was)
        change(was, lead.scaler.active, now);
}

uint64_t aspx_ghost_scaling_due_us(void)
{
    uint64_t passed;

    if (!lead.doorbells || lead.scaler.active == 1)
        return UINT64_MAX;
    passed = aspx_clock_between(lead.begun, aspx_clock_ticks());
    return passed >= lead.interval
               ? 0
               : (uint64_t) (1e6 * aspx_clock_seconds(lead.interval - passed));
}
