/* SPDX-License-Identifier: BSD-3-Clause */
/* Agreement of the parts of a decoded layout: every rank once, roles by
 * position, user ranks dense. The decoder has already checked each number. */
#include "wire.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

enum { RANK_UNSEEN = 0, RANK_USER, RANK_GHOST };

static int check_head(const struct asp_layout *layout, struct asp_err *err)
{
    if (layout->node >= layout->nnodes)
        return asp_errf(err, EINVAL, "node %" PRIu32 " of %" PRIu32 " nodes",
                        layout->node, layout->nnodes);
    if (layout->mode == ASP_MODE_AUTO)
        return asp_errf(err, EINVAL, "mode auto in a layout: not resolved");
    if ((layout->mode == ASP_MODE_GHOST) != (layout->ghosts_per_node > 0))
        return asp_errf(err, EINVAL, "mode %s with %" PRIu32 " ghosts per node",
                        asp_mode_name(layout->mode), layout->ghosts_per_node);
    if (layout->ntasks <= layout->ghosts_per_node)
        return asp_errf(err, EINVAL,
                        "%" PRIu32 " tasks and %" PRIu32
                        " ghosts leave no user on this node",
                        layout->ntasks, layout->ghosts_per_node);
    if (layout->size_world < layout->ntasks)
        return asp_errf(err, EINVAL, "size %" PRIu32 " < %" PRIu32 " tasks",
                        layout->size_world, layout->ntasks);
    return 0;
}

/* Fill role_of (size_world entries) from the nodes' rank lists. */
static int mark_ranks(const struct asp_layout *layout, unsigned char *role_of,
                      struct asp_err *err)
{
    uint32_t seen = 0;

    for (uint32_t n = 0; n < layout->nnodes; n++) {
        const struct asp_layout_node *node = &layout->nodes[n];

        if (node->ntasks <= layout->ghosts_per_node)
            return asp_errf(err, EINVAL,
                            "node %" PRIu32 " has %" PRIu32
                            " tasks for %" PRIu32 " ghosts and users",
                            n, node->ntasks, layout->ghosts_per_node);
        for (uint32_t i = 0; i < node->ntasks; i++) {
            uint32_t rank = node->ranks_world[i];

            if (rank >= layout->size_world || role_of[rank])
                return asp_errf(err, EINVAL,
                                "rank %" PRIu32 " of node %" PRIu32
                                " is out of range or listed twice",
                                rank, n);
            role_of[rank] = i < node->ntasks - layout->ghosts_per_node
                                ? RANK_USER
                                : RANK_GHOST;
        }
        seen += node->ntasks;
    }
    if (seen != layout->size_world)
        return asp_errf(err, EINVAL,
                        "nodes list %" PRIu32 " of %" PRIu32 " ranks", seen,
                        layout->size_world);
    return 0;
}

/* This node's tasks against its rank list. */
static int check_ranks(const struct asp_layout *layout,
                       const unsigned char *role_of, struct asp_err *err)
{
    const struct asp_layout_node *node = &layout->nodes[layout->node];
    uint32_t rank_user = 0, next = 0;

    if (layout->ntasks != node->ntasks)
        return asp_errf(err, EINVAL,
                        "%" PRIu32 " tasks described, %" PRIu32 " listed",
                        layout->ntasks, node->ntasks);
    for (uint32_t t = 0; t < layout->ntasks; t++) {
        const struct asp_layout_task *task = &layout->tasks[t];

        if (task->rank_world != node->ranks_world[t])
            return asp_errf(err, EINVAL, "task %" PRIu32 " has another rank",
                            t);
        for (; next < task->rank_world; next++)
            rank_user += role_of[next] == RANK_USER;
        if (task->role == ASP_ROLE_USER && task->rank_user != rank_user)
            return asp_errf(err, EINVAL,
                            "rank %" PRIu32 " is user rank %" PRIu32
                            ", not %" PRIu32,
                            task->rank_world, rank_user, task->rank_user);
    }
    return 0;
}

static bool is_ghost_here(const struct asp_layout *layout, uint32_t rank)
{
    for (uint32_t t = layout->ntasks - layout->ghosts_per_node;
         t < layout->ntasks; t++) {
        if (layout->tasks[t].rank_world == rank)
            return true;
    }
    return false;
}

/* What must hold in degraded layouts too. */
static int check_tasks(const struct asp_layout *layout, struct asp_err *err)
{
    uint32_t users = layout->ntasks - layout->ghosts_per_node;

    for (uint32_t t = 0; t < layout->ntasks; t++) {
        const struct asp_layout_task *task = &layout->tasks[t];
        enum asp_role role = t < users ? ASP_ROLE_USER : ASP_ROLE_GHOST;

        if (task->role != role)
            return asp_errf(err, EINVAL,
                            "task %" PRIu32 " of %" PRIu32 " must be a %s", t,
                            layout->ntasks, asp_role_name(role));
        if (task->rank_world != ASP_RANK_NONE &&
            task->rank_world >= layout->size_world)
            return asp_errf(err, EINVAL,
                            "task %" PRIu32 " has rank %" PRIu32 " of %" PRIu32,
                            t, task->rank_world, layout->size_world);
        if (task->rank_user != ASP_RANK_NONE &&
            (role == ASP_ROLE_GHOST || task->rank_user >= layout->size_world))
            return asp_errf(err, EINVAL,
                            "task %" PRIu32 " cannot be user rank %" PRIu32, t,
                            task->rank_user);
        if (task->ghost != ASP_RANK_NONE &&
            (role == ASP_ROLE_GHOST || !is_ghost_here(layout, task->ghost)))
            return asp_errf(err, EINVAL,
                            "task %" PRIu32 ": rank %" PRIu32
                            " is no ghost of this node",
                            t, task->ghost);
    }
    return 0;
}

int asp_layout_check(const struct asp_layout *layout, struct asp_err *err)
{
    unsigned char *role_of;
    int rc;

    if (check_head(layout, err) || check_tasks(layout, err))
        return -1;
    if (!layout->nodes)
        return 0;
    role_of = calloc(layout->size_world, 1);
    if (!role_of)
        return asp_errf(err, ENOMEM, "out of memory");
    rc = mark_ranks(layout, role_of, err);
    if (!rc)
        rc = check_ranks(layout, role_of, err);
    free(role_of);
    return rc;
}
