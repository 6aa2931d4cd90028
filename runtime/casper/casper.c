/* SPDX-License-Identifier: BSD-3-Clause */
/* The engine's start and end in a user rank. */
#include "config.h"

#include "casper.h"
#include "offer.h"
#include "runtime/casper/arena/ghost_scaling.h"
#include "runtime/casper/arena/engine.h"
#include "runtime/casper/watchdog/watchdog.h"
#include "runtime/casper/window/rules.h"

#include "runtime/adapt/adapt.h"
#include "runtime/adapt/node_status_page.h"
#include "runtime/heap/offer.h"
#include "runtime/mpi/real.h"
#include "runtime/record/frame.h"

int aspx_casper_start(const struct aspx_world *world)
{
    uint32_t nusers = aspx_engine_count(world, ASP_ROLE_USER);

    if (aspx_engine_start(
            &aspx_engine, world,
            aspx_status_page_bytes(nusers, (uint32_t) world->size_all)) != 0)
        return -1;
    aspx_casper_offer_ghosts();
    aspx_adapt_start(&aspx_engine);
    aspx_ghost_scaling_follow(&aspx_engine,
                              world->layout->knobs.adapt_interval_ms / 1e3);
    aspx_watchdog_serving(&aspx_engine);
    aspx_rules_start(world, aspx_record_where(world->layout) != NULL);
    aspx_heap_start(&aspx_engine.arena, world);
    return 0;
}

/* Every user is past its last operation and lock when the barrier is over, so
 * ghosts may stop serving locks. They keep making progress until they have
 * left MPI_Win_free together with us. */
void aspx_casper_stop(void)
{
    const struct aspx_world *world = aspx_engine.world;
    const struct aspx_lock_message goodbye = {.verb = ASPX_GOODBYE};

    if (aspx_engine.win == MPI_WIN_NULL)
        return;
    aspx_heap_stop();
    aspx_adapt_stop();
    aspx_real.MPI_Win_flush_all(aspx_engine.win);
    aspx_real.MPI_Barrier(world->users);
    aspx_watchdog_leaving();
    for (int r = 0; r < world->size_all; r++)
        if (world->peers[r].node == world->node &&
            world->peers[r].role == ASP_ROLE_GHOST) {
            struct aspx_doorbell *doorbell = aspx_engine_doorbell(&aspx_engine,
                                                                  (uint32_t) r);

            aspx_real.MPI_Send(&goodbye, sizeof(goodbye), MPI_BYTE, r,
                               ASPX_LOCK_TAG, aspx_engine.locks);
            aspx_doorbell_ring(doorbell);
        }
    aspx_engine_stop(&aspx_engine);
}
