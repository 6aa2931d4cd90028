/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the communicators of a step. One exchange of roles over the real world
 * (join.c) settles which rank is what, because a degraded layout knows only its
 * own node, and not the ranks on it. */
#include "config.h"

#include "world.h"

#include "join.h"
#include "runtime/base/log.h"
#include "runtime/mpi/real.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { USERS_TAG = 4711 };

struct aspx_world aspx_world = {
    .all = MPI_COMM_NULL,
    .users = MPI_COMM_WORLD,
    .rank_user = -1,
};

/* Local id of the main ghost of task `local`. Without ranks (degraded layout)
 * users are dealt to the node's ghosts in turn. */
static uint32_t main_ghost(const struct asp_layout *layout, uint32_t local)
{
    uint32_t nghosts = layout->ghosts_per_node;
    uint32_t nusers = layout->ntasks - nghosts;
    uint32_t ghost = layout->tasks[local].ghost;

    if (layout->tasks[local].role != ASP_ROLE_USER || nghosts == 0)
        return ASP_RANK_NONE;
    for (uint32_t i = nusers; i < layout->ntasks; i++)
        if (ghost != ASP_RANK_NONE && layout->tasks[i].rank_world == ghost)
            return i;
    return nusers + local * nghosts / nusers;
}

/* A leader is its node's lowest rank, so it has its number before the others.
 */
int aspx_world_number(struct aspx_world *world, const uint32_t *leaders)
{
    world->nnodes = 0;
    for (uint32_t r = 0; r < (uint32_t) world->size_all; r++) {
        if (leaders[r] > r || leaders[leaders[r]] != leaders[r])
            return -1;
        if (leaders[r] == r)
            world->peers[r].node = world->nnodes++;
        else
            world->peers[r].node = world->peers[leaders[r]].node;
    }
    world->node = world->peers[world->rank_all].node;
    return 0;
}

/* Node of each rank, as the layouts have them: what MPI calls shared memory
 * (MPI_COMM_TYPE_SHARED) is what it would share itself, and that is nothing
 * over UCX in MPICH 5.0. All processes compute the same dense numbers from the
 * gathered leaders. */
static int number_nodes(struct aspx_world *world, struct asp_err *err)
{
    size_t size = (size_t) world->size_all;
    uint32_t leader, *leaders = malloc(sizeof(*leaders) * size);
    MPI_Comm node;
    int rc;

    if (!leaders)
        return asp_errf(err, ENOMEM, "no memory for %zu ranks", size);
    aspx_real.MPI_Comm_split(world->all, (int) world->layout->node,
                             world->rank_all, &node);
    leader = (uint32_t) world->rank_all;
    aspx_real.MPI_Bcast(&leader, 1, MPI_UINT32_T, 0, node);
    aspx_real.MPI_Comm_free(&node);
    aspx_real.MPI_Allgather(&leader, 1, MPI_UINT32_T, leaders, 1, MPI_UINT32_T,
                            world->all);
    rc = aspx_world_number(world, leaders);
    free(leaders);
    return rc == 0 ? 0
                   : asp_errf(err, EPROTO,
                              "the ranks do not agree on which "
                              "of them share a node");
}

/* Ghosts are offered by local id: find the rank of that id on the same node.
 * first[node] and next[rank] chain the ghosts of each node. */
static int find_ghosts(struct aspx_world *world,
                       const struct aspx_offer *offers)
{
    size_t size = (size_t) world->size_all;
    int *next = malloc(sizeof(*next) * size);
    int *first = malloc(sizeof(*first) * world->nnodes);
    int rc = next && first ? 0 : -1;

    for (uint32_t n = 0; rc == 0 && n < world->nnodes; n++)
        first[n] = -1;
    for (int g = world->size_all - 1; rc == 0 && g >= 0; g--) {
        if (offers[g].role != ASP_ROLE_GHOST)
            continue;
        next[g] = first[world->peers[g].node];
        first[world->peers[g].node] = g;
    }
    for (int r = 0; rc == 0 && r < world->size_all; r++) {
        int g = first[world->peers[r].node];

        if (offers[r].role != ASP_ROLE_USER)
            continue;
        while (g >= 0 && offers[g].local != offers[r].ghost_local)
            g = next[g];
        world->peers[r].ghost = g >= 0 ? (uint32_t) g : ASP_RANK_NONE;
    }
    free(next);
    free(first);
    return rc;
}

/* Fill peers from the offers; their nodes are known. */
static int fill_peers(struct aspx_world *world, const struct aspx_offer *offers)
{
    uint32_t users = 0;

    for (int r = 0; r < world->size_all; r++) {
        struct aspx_peer *peer = &world->peers[r];

        peer->role = offers[r].role;
        peer->rank_user = ASP_RANK_NONE;
        peer->ghost = ASP_RANK_NONE;
        if (peer->role == ASP_ROLE_USER) {
            peer->rank_user = users;
            world->user_to_world[users++] = (uint32_t) r;
        }
    }
    world->size_users = (int) users;
    if (world->peers[world->rank_all].role == ASP_ROLE_USER)
        world->rank_user = (int) world->peers[world->rank_all].rank_user;
    return find_ghosts(world, offers);
}

/* The users' communicator: only users take part in making it. */
static void make_users(struct aspx_world *world)
{
    MPI_Group all, users;
    int *ranks;

    world->users = MPI_COMM_NULL;
    if (world->rank_user < 0)
        return;
    ranks = malloc(sizeof(*ranks) * (size_t) world->size_users);
    if (!ranks)
        aspx_abort();
    for (int i = 0; i < world->size_users; i++)
        ranks[i] = (int) world->user_to_world[i];
    aspx_real.MPI_Comm_group(MPI_COMM_WORLD, &all);
    aspx_real.MPI_Group_incl(all, world->size_users, ranks, &users);
    aspx_real.MPI_Comm_create_group(MPI_COMM_WORLD, users, USERS_TAG,
                                    &world->users);
    aspx_real.MPI_Comm_set_name(world->users, "MPI_COMM_WORLD");
    aspx_real.MPI_Group_free(&users);
    aspx_real.MPI_Group_free(&all);
    free(ranks);
}

int aspx_world_start(struct aspx_world *world, const struct asp_layout *layout,
                     uint32_t local, struct asp_err *err)
{
    struct aspx_offer *offers;
    size_t size;

    world->layout = layout;
    aspx_real.MPI_Comm_size(MPI_COMM_WORLD, &world->size_all);
    aspx_real.MPI_Comm_rank(MPI_COMM_WORLD, &world->rank_all);
    if ((uint32_t) world->size_all != layout->size_world)
        return asp_errf(err, ESRCH,
                        "MPI started %d ranks where job %s has %u tasks",
                        world->size_all, layout->job, layout->size_world);
    size = (size_t) world->size_all;
    offers = calloc(size, sizeof(*offers));
    world->peers = calloc(size, sizeof(*world->peers));
    world->user_to_world = calloc(size, sizeof(*world->user_to_world));
    if (!offers || !world->peers || !world->user_to_world) {
        free(offers);
        return asp_errf(err, ENOMEM, "no memory for %zu ranks", size);
    }
    offers[world->rank_all].role = layout->tasks[local].role;
    offers[world->rank_all].local = local;
    offers[world->rank_all].ghost_local = main_ghost(layout, local);
    if (aspx_join(world, offers, err) != 0) {
        free(offers);
        return -1;
    }
    aspx_real.MPI_Comm_dup(MPI_COMM_WORLD, &world->all);
    if (number_nodes(world, err) != 0) {
        free(offers);
        return -1;
    }
    if (fill_peers(world, offers) != 0)
        aspx_abort();
    free(offers);
    aspx_log_set_rank(world->rank_user >= 0 ? world->rank_user
                                            : world->rank_all);
    make_users(world);
    return 0;
}

/* Programs have no communicator with ghosts. */
bool aspx_world_holds(const struct aspx_world *world, MPI_Comm comm)
{
    MPI_Group group, users, others;
    int n = 0;

    aspx_real.MPI_Comm_group(comm, &group);
    aspx_real.MPI_Comm_group(world->users, &users);
    aspx_real.MPI_Group_difference(group, users, &others);
    aspx_real.MPI_Group_size(others, &n);
    aspx_real.MPI_Group_free(&group);
    aspx_real.MPI_Group_free(&users);
    if (others != MPI_GROUP_EMPTY)
        aspx_real.MPI_Group_free(&others);
    return n == 0;
}

void aspx_world_stop(struct aspx_world *world)
{
    if (world->users != MPI_COMM_NULL && world->users != MPI_COMM_WORLD)
        aspx_real.MPI_Comm_free(&world->users);
    if (world->all != MPI_COMM_NULL)
        aspx_real.MPI_Comm_free(&world->all);
    free(world->peers);
    free(world->user_to_world);
    world->peers = NULL;
    world->user_to_world = NULL;
    world->users = MPI_COMM_WORLD;
    world->rank_user = -1;
}
