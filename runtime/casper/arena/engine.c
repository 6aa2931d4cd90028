/* SPDX-License-Identifier: BSD-3-Clause */
/* Start-up in three steps: the first ghost of each node makes the arena and
 * everybody learns its name; the others of the node map it, ghosts attach it
 * to the internal window; everybody learns where each ghost sees it. */
#include "config.h"

#include "engine.h"
#include "arrival.h"
#include "contig_win.h"
#include "settings.h"

#include "common/layout/layout.h"
#include "runtime/base/log.h"
#include "runtime/net/device.h"
#include "runtime/mpi/real.h"
#include "runtime/net/net.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct aspx_engine aspx_engine = {
    .locks = MPI_COMM_NULL,
    .ghosts_comm = MPI_COMM_NULL,
    .win = MPI_WIN_NULL,
    .contig_win = MPI_WIN_NULL,
};

uint32_t aspx_engine_local(const struct aspx_world *world, uint32_t rank_all)
{
    const struct aspx_peer *me = &world->peers[rank_all];
    uint32_t index = 0;

    for (uint32_t r = 0; r < rank_all; r++)
        if (world->peers[r].node == me->node &&
            world->peers[r].role == me->role)
            index++;
    return index;
}

uint32_t aspx_engine_count(const struct aspx_world *world, enum asp_role role)
{
    uint32_t count = 0;

    for (int r = 0; r < world->size_all; r++)
        count += world->peers[r].node == world->node &&
                 world->peers[r].role == role;
    return count;
}

/* First ghost of this node, or -1. */
static int find_maker(const struct aspx_world *world)
{
    for (int r = 0; r < world->size_all; r++)
        if (world->peers[r].node == world->node &&
            world->peers[r].role == ASP_ROLE_GHOST)
            return r;
    return -1;
}

static bool is_ghost(const struct aspx_world *world)
{
    return world->rank_user < 0;
}

struct handle {
    struct aspx_arena_name arena; /* bytes == 0 unless the maker */
    int32_t pid;
    uint16_t device, pins; /* settings.h */
    struct aspx_net_place place;
};

/* Make or map the arena. Failure is not an error: without an arena there are
 * no redirected windows. */
static void map_arena(struct aspx_engine *engine, const struct handle *handles,
                      int maker)
{
    const struct aspx_world *world = engine->world;
    int slice = -1;

    if (maker < 0 || maker == world->rank_all)
        return;
    if (!is_ghost(world))
        slice = (int) aspx_engine_local(world, (uint32_t) world->rank_all);
    (void) aspx_arena_open(&engine->arena, &handles[maker].arena, slice);
}

/* Is this process the target of operations on the engine's window? Users are
 * while redirection to their ghost is off. */
static bool attaches(const struct aspx_engine *engine)
{
    return is_ghost(engine->world) || engine->settings.adapt;
}

static int make_window(struct aspx_engine *engine)
{
    const struct aspx_world *world = engine->world;

    if (aspx_real.MPI_Win_create_dynamic(MPI_INFO_NULL, world->all,
                                         &engine->win) != MPI_SUCCESS)
        return -1;
    /* Errors belong to the user's window, which raises them. */
    aspx_real.MPI_Win_set_errhandler(engine->win, MPI_ERRORS_RETURN);
    if (!attaches(engine) || !engine->arena.base ||
        aspx_real.MPI_Win_attach(engine->win, engine->arena.base,
                                 (MPI_Aint) engine->arena.bytes) == MPI_SUCCESS)
        return 0;
    /* Not attached: say so in the exchange that follows. */
    if (is_ghost(world))
        aspx_arena_close(&engine->arena);
    else
        engine->settings.adapt = false;
    return 0;
}

/* What fits in the low bits of a page's address: ready in this process? */
enum { READY_CONTIG = 1, READY_ADAPT = 2, READY_RINGS = 4, READY = 7 };

/* Tell where this process has attached the arena, learn where the others
 * have. */
static int exchange_addresses(struct aspx_engine *engine, bool contig)
{
    const struct aspx_world *world = engine->world;
    uint64_t mine = (contig ? READY_CONTIG : 0) |
                    (engine->settings.adapt ? READY_ADAPT : 0) |
                    (engine->arena.doorbells ? READY_RINGS : 0);
    uint64_t everywhere = READY;

    if (attaches(engine))
        mine |= (uint64_t) (uintptr_t) engine->arena.base;
    if (aspx_real.MPI_Allgather(&mine, 1, MPI_UINT64_T, engine->arena_addr, 1,
                                MPI_UINT64_T, world->all) != MPI_SUCCESS)
        return -1;
    aspx_arena_made_known(&engine->arena);
    for (int r = 0; r < world->size_all; r++) {
        everywhere &= engine->arena_addr[r];
        engine->arena_addr[r] &= ~(uint64_t) READY;
        if (world->peers[r].role != ASP_ROLE_GHOST)
            continue;
        if (engine->arena_addr[r])
            engine->up = true;
        else /* leaders could not reach each other through it */
            engine->settings.ghosts_decide = false;
    }
    engine->settings.adapt &= (everywhere & READY_ADAPT) != 0;
    engine->unheard |= engine->rings && !(everywhere & READY_RINGS);
    contig = everywhere & READY_CONTIG;
    if (engine->settings.contig_win && !contig && world->rank_all == 0)
        aspx_log(ASPX_LOG_WARNING,
                 "MPI refused one of the engine's windows; puts "
                 "and gets between nodes take longer");
    engine->settings.contig_win &= contig;
    if (!engine->settings.contig_win)
        engine->contig_win =
            MPI_WIN_NULL; /* nobody uses it, not all can free it */
    return 0;
}

/* The ghosts among themselves, where the request says that collectives are
 * tuned, or messages carried. Number n of engine->ghosts is rank n. */
static int join_ghosts(struct aspx_engine *engine)
{
    const struct aspx_world *world = engine->world;
    int color = is_ghost(world) ? 0 : MPI_UNDEFINED, key = 0;

    engine->exchanges = world->layout->knobs.coll != ASP_COLL_MODE_OFF ||
                        asp_layout_carries(world->layout);
    if (!engine->exchanges)
        return 0;
    while (is_ghost(world) && engine->ghosts[key] != (uint32_t) world->rank_all)
        key++;
    if (aspx_real.MPI_Comm_split(world->all, color, key,
                                 &engine->ghosts_comm) != MPI_SUCCESS)
        return -1;
    if (engine->ghosts_comm != MPI_COMM_NULL)
        aspx_real.MPI_Comm_set_errhandler(engine->ghosts_comm,
                                          MPI_ERRORS_RETURN);
    return 0;
}

/* List the ghosts node by node. */
static void list_ghosts(struct aspx_engine *engine)
{
    const struct aspx_world *world = engine->world;
    uint32_t *first = engine->first_ghost;

    for (int r = 0; r < world->size_all; r++)
        if (world->peers[r].role == ASP_ROLE_GHOST)
            first[world->peers[r].node + 1]++;
    for (uint32_t n = 0; n < world->nnodes; n++)
        first[n + 1] += first[n];
    for (int r = world->size_all - 1; r >= 0; r--)
        if (world->peers[r].role == ASP_ROLE_GHOST)
            engine->ghosts[--first[world->peers[r].node + 1]] = (uint32_t) r;
    /* Each entry n + 1 is now the first of node n; move them back. */
    for (uint32_t n = 0; n < world->nnodes; n++)
        first[n] = first[n + 1];
    first[world->nnodes] = (uint32_t) (world->size_all - world->size_users);
}

static int start_with(struct aspx_engine *engine, struct handle *handles,
                      uint64_t status_bytes)
{
    const struct aspx_world *world = engine->world;
    struct handle mine = {.pid = (int32_t) getpid(),
                          .device = (uint16_t) aspx_settings_device(),
                          .pins = (uint16_t) aspx_settings_pins()};
    uint32_t nusers = aspx_engine_count(world, ASP_ROLE_USER);
    int maker = find_maker(world), devices = 0;
    bool contig = false, pins = false;

    aspx_net_place(&mine.place);
    if (world->rank_all == maker && nusers > 0)
        (void) aspx_arena_make(&engine->arena, nusers, status_bytes,
                               &mine.arena);
    if (aspx_real.MPI_Allgather(&mine, sizeof(mine), MPI_BYTE, handles,
                                sizeof(mine), MPI_BYTE,
                                world->all) != MPI_SUCCESS)
        return -1;
    engine->rings = aspx_net_shares_memory();
    aspx_arrival_start(mine.device, world->rank_user == 0);
    for (int r = 0; r < world->size_all; r++) {
        engine->pids[r] = handles[r].pid;
        engine->unheard |= aspx_net_unheard(&mine.place, &handles[r].place);
        devices += handles[r].device;
        pins |= handles[r].pins;
    }
    aspx_settings_read(&engine->settings, world->layout,
                       devices == world->size_all, pins);
    map_arena(engine, handles, maker);
    if (aspx_real.MPI_Comm_dup(world->all, &engine->locks) != MPI_SUCCESS ||
        join_ghosts(engine) != 0 || make_window(engine) != 0)
        return -1;
    aspx_real.MPI_Comm_set_errhandler(engine->locks, MPI_ERRORS_RETURN);
    if (engine->settings.contig_win)
        contig = aspx_contig_win_make(engine);
    if (exchange_addresses(engine, contig) != 0)
        return -1;
    /* NOCHECK: nobody ever locks this window otherwise, so no messages. */
    return aspx_real.MPI_Win_lock_all(MPI_MODE_NOCHECK, engine->win) ==
                   MPI_SUCCESS
               ? 0
               : -1;
}

int aspx_engine_start(struct aspx_engine *engine,
                      const struct aspx_world *world, uint64_t status_bytes)
{
    size_t size = (size_t) world->size_all;
    struct handle *handles = calloc(size, sizeof(*handles));
    int rc = -1;

    *engine = (struct aspx_engine){
        .world = world,
        .arena = {.fd = -1, .mutex = PTHREAD_MUTEX_INITIALIZER},
        .locks = MPI_COMM_NULL,
        .ghosts_comm = MPI_COMM_NULL,
        .win = MPI_WIN_NULL,
        .contig_win = MPI_WIN_NULL,
        .arena_addr = calloc(size, sizeof(uint64_t)),
        .pids = calloc(size, sizeof(int32_t)),
        .loads = calloc(size, sizeof(struct aspx_load)),
        .ghosts = calloc(size, sizeof(uint32_t)),
        .first_ghost = calloc((size_t) world->nnodes + 2, sizeof(uint32_t)),
    };
    if (handles && engine->arena_addr && engine->pids && engine->loads &&
        engine->ghosts && engine->first_ghost) {
        list_ghosts(engine);
        rc = start_with(engine, handles, status_bytes);
    }
    free(handles);
    return rc;
}

void aspx_engine_stop(struct aspx_engine *engine)
{
    aspx_contig_win_free(engine);
    if (engine->win != MPI_WIN_NULL) {
        aspx_real.MPI_Win_unlock_all(engine->win);
        aspx_real.MPI_Win_free(&engine->win);
    }
    if (engine->locks != MPI_COMM_NULL)
        aspx_real.MPI_Comm_free(&engine->locks);
    if (engine->ghosts_comm != MPI_COMM_NULL)
        aspx_real.MPI_Comm_free(&engine->ghosts_comm);
    /* What MPI_Alloc_mem gave may be an attached buffer, at which MPI looks
     * once more, and MPICH lets programs read their memory after MPI_Finalize.
     */
    engine->arena.kept |= engine->world->rank_user >= 0;
    aspx_arena_close(&engine->arena);
    free(engine->arena_addr);
    free(engine->pids);
    free(engine->loads);
    free(engine->ghosts);
    free(engine->first_ghost);
    engine->arena_addr = NULL;
    engine->pids = NULL;
    engine->loads = NULL;
    engine->ghosts = engine->first_ghost = NULL;
    engine->up = false;
}

struct aspx_doorbell *aspx_engine_doorbell(const struct aspx_engine *engine,
                                           uint32_t ghost)
{
    if (!engine->arena.doorbells ||
        engine->world->peers[ghost].node != engine->world->node)
        return NULL;
    return &engine->arena.doorbells[aspx_engine_local(engine->world, ghost)];
}
