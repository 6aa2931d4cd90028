/* SPDX-License-Identifier: BSD-3-Clause */
/* The tree of leaders: see leaders.h. */
#include "config.h"

#include "leaders.h"

#include "runtime/mpi/real.h"

#include <stdlib.h>

/* The tree is a heap: the leaders in the order of their nodes, from the root
 * around, and those of index 8i + 1 to 8i + 8 are the children of leader i. */
int aspx_leader_tree_build(const struct aspx_engine *engine, uint32_t root,
                           struct aspx_leader_tree *tree_p)
{
    const struct aspx_world *world = engine->world;
    uint32_t *leader = calloc(world->nnodes, sizeof(*leader)), n = 0, me = 0;

    if (!leader)
        return -1;
    for (uint32_t i = 0; i < world->nnodes; i++) {
        uint32_t node = (root + i) % world->nnodes;
        const uint32_t *first = &engine->first_ghost[node];

        if (first[0] == first[1])
            continue;
        if (node == world->node)
            me = n;
        leader[n++] = engine->ghosts[first[0]];
    }
    *tree_p = (struct aspx_leader_tree){
        .parent = me > 0 ? (int) leader[(me - 1) / ASPX_LEADER_CHILDREN] : -1};
    for (uint32_t c = ASPX_LEADER_CHILDREN * me + 1;
         c <= ASPX_LEADER_CHILDREN * (me + 1); c++)
        if (c < n)
            tree_p->child[tree_p->nchildren++] = (int) leader[c];
    free(leader);
    return 0;
}

bool aspx_leader_hang_up(MPI_Request *receive, MPI_Request *out)
{
    int sent = 1;

    if (*receive != MPI_REQUEST_NULL) {
        aspx_real.MPI_Cancel(receive);
        aspx_real.MPI_Wait(receive, MPI_STATUS_IGNORE);
    }
    if (*receive != MPI_REQUEST_NULL) /* a persistent one */
        aspx_real.MPI_Request_free(receive);
    if (*out != MPI_REQUEST_NULL)
        aspx_real.MPI_Test(out, &sent, MPI_STATUS_IGNORE);
    if (!sent)
        aspx_real.MPI_Request_free(out);
    return sent;
}
