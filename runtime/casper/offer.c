/* SPDX-License-Identifier: BSD-3-Clause */
/* What runtime/posted is offered of ghosts, in a user: memory of the arena, and
 * the ghost of this node that serves what lies there, which is the first, as
 * that one is never parked. */
#include "config.h"

#include "offer.h"

#include "runtime/adapt/adapt.h"
#include "runtime/casper/arena/engine.h"

#include "runtime/posted/ghosts.h"
#include "runtime/mpi/real.h"

#include <unistd.h>

static uint32_t first_ghost_of(uint32_t node)
{
    return aspx_engine.first_ghost[node];
}

static uint32_t server(void)
{
    return aspx_engine.ghosts[first_ghost_of(aspx_engine.world->node)];
}

/* Every node has a ghost: they were asked for by node. */
static bool can(void)
{
    return aspx_engine.exchanges && aspx_engine.up && aspx_engine.arena.base;
}

static uint32_t of(uint32_t rank_world)
{
    const struct aspx_world *world = aspx_engine.world;

    return first_ghost_of(world->peers[world->user_to_world[rank_world]].node);
}

/* Windows need most of a slice, and there may be many communicators. */
static uint64_t most(void)
{
    return aspx_engine.arena.slice_bytes / 16;
}

static void *take(uint64_t bytes, uint64_t *offset_p)
{
    return aspx_arena_alloc(&aspx_engine.arena, bytes,
                            (uint64_t) sysconf(_SC_PAGESIZE), offset_p);
}

static void *find(uint64_t offset, uint64_t bytes)
{
    return aspx_arena_address(&aspx_engine.arena, offset, bytes);
}

static void give(uint64_t offset, uint64_t bytes)
{
    aspx_arena_free(&aspx_engine.arena, offset, bytes);
}

static struct aspx_doorbell *doorbell; /* the server's */

static void ring(void)
{
    atomic_fetch_add(&doorbell->posts, 1);
    aspx_doorbell_ring(doorbell);
}

static void open_mailbox(enum aspx_ghost_service service, uint64_t offset,
                         uint32_t me)
{
    const struct aspx_lock_message message = {
        .verb = service == ASPX_SERVE_MESSAGES ? ASPX_P2P_OPEN : ASPX_COLL_OPEN,
        .words_off = offset,
        .target = me};

    aspx_real.MPI_Send(&message, sizeof(message), MPI_BYTE, (int) server(),
                       ASPX_LOCK_TAG, aspx_engine.locks);
    ring();
}

static bool maps(const void *address, uint64_t bytes, uint64_t *offset_p)
{
    return aspx_arena_offset(&aspx_engine.arena, address, bytes, offset_p) == 0;
}

static int32_t pid(void)
{
    return aspx_engine.pids[server()];
}

/* What is given back is so for good, as of a window without legal points. */
static bool helps(void)
{
    return aspx_adapt_wish(ASPX_ASYNC_UNSAID, true);
}

static const struct aspx_ghosts ghosts = {
    .can = can,
    .of = of,
    .most = most,
    .take = take,
    .find = find,
    .give = give,
    .maps = maps,
    .open = open_mailbox,
    .ring = ring,
    .adapts = aspx_adapt_able,
    .helps = helps,
    .pid = pid,
};

void aspx_casper_offer_ghosts(void)
{
    if (!aspx_engine.exchanges)
        return;
    aspx_ghosts = &ghosts;
    if (can())
        doorbell = aspx_engine_doorbell(&aspx_engine, server());
}
