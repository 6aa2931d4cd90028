/* SPDX-License-Identifier: BSD-3-Clause */
/* The world of a step: users and ghosts are ranks of MPI's real world, the
 * program sees only the users. The same code runs in users and in ghosts. */
#ifndef ASPEN_RUNTIME_WORLD_WORLD_H
#define ASPEN_RUNTIME_WORLD_WORLD_H

#include "common/layout/layout.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* What every process knows of every other, by real world rank. */
struct aspx_peer {
    uint32_t role;      /* enum asp_role */
    uint32_t node;      /* dense node index, by lowest world rank */
    uint32_t rank_user; /* ASP_RANK_NONE for ghosts */
    uint32_t ghost;     /* user: world rank of its main ghost, or NONE */
};

struct aspx_world {
    MPI_Comm all;   /* a dup of the real world, for our traffic */
    MPI_Comm users; /* the program's MPI_COMM_WORLD; NULL comm in ghosts */
    int rank_all, size_all;
    int rank_user, size_users; /* rank_user is -1 in ghosts */
    uint32_t node, nnodes;
    struct aspx_peer *peers;         /* size_all */
    uint32_t *user_to_world;         /* size_users */
    const struct asp_layout *layout; /* borrowed */
};

/* The world of this process. users is MPI_COMM_WORLD while we are inert, so
 * translation is right at any time. */
extern struct aspx_world aspx_world;

/* What the program means when it says comm. */
static inline MPI_Comm aspx_comm(MPI_Comm comm)
{
    return comm == MPI_COMM_WORLD ? aspx_world.users : comm;
}

/* What the program should see where the library says comm. */
static inline MPI_Comm aspx_comm_shown(MPI_Comm comm)
{
    return comm == aspx_world.users ? MPI_COMM_WORLD : comm;
}

/* Exchange roles and make the communicators. Collective over the real
 * world, after the real MPI_Init.
 *   layout  borrowed for the life of the world
 *   local   index of this task in layout->tasks
 * Returns 0; -1 with a text when this process cannot take part: the real world
 * is not the step that the layout describes (errno ESRCH: stay inert), some
 * ranks did not join within the time limit (ETIMEDOUT: abort), or what they say
 * does not fit together (EPROTO: abort). */
int aspx_world_start(struct aspx_world *world, const struct asp_layout *layout,
                     uint32_t local, struct asp_err *err);

/* Number the nodes: fill nnodes, node and the peers' nodes.
 *   leaders  size_all world ranks, by rank: the lowest one of its node
 * Returns 0, or -1 when that is not what they are. */
int aspx_world_number(struct aspx_world *world, const uint32_t *leaders);

/* Are all processes of a communicator of this world? Others (spawned,
 * connected) take no part in exchanges of ours. Same result in all of them. */
bool aspx_world_holds(const struct aspx_world *world, MPI_Comm comm);

/* Free the communicators and tables. Collective over users (and, for the
 * duplicate, over all). */
void aspx_world_stop(struct aspx_world *world);

#endif
