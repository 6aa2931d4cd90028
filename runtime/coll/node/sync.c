/* SPDX-License-Identifier: BSD-3-Clause */
/* No rank goes on before all have come: signals up the tree, then down again.
 *
 *              pull                            push
 *   up      I set arrived; my parent        I add one to its counter; it reads
 *           reads those of its children     only that
 *   down    I set released; my children     I set told of each child; it reads
 *           read that                       only that
 *
 * arrived, released and told hold the number of syncs, and are never reset. In
 * push, told and counter have more than one writer over time. All syncs are
 * apart from each other, so that no writer of one meets one of the next: a
 * child leaves only when told, and comes to the next sync after that. The
 * counter is set back to 0 by its owner between the last child's arrival and
 * the signal upwards, without which none is released to count again. Of several
 * children the one that makes the number full wakes the parent. */
#include "config.h"

#include "phases.h"

static uint64_t number_of(const struct aspx_node_area *area)
{
    return area->syncs + 1;
}

static bool pull_children(struct aspx_node_op *op,
                          const struct aspx_node_tree *tree)
{
    struct aspx_node_area *area = op->area;

    for (; op->at < tree->children; op->at++) {
        uint32_t child = aspx_node_tree_child(tree, op->at);

        if (!aspx_node_reached(op, child, &area->flags[child].arrived,
                               number_of(area)))
            return false;
    }
    return true;
}

static bool count_children(struct aspx_node_op *op,
                           const struct aspx_node_tree *tree)
{
    struct aspx_node_flags *mine = aspx_node_mine(op->area);

    if (atomic_load_explicit(&mine->counter.value, memory_order_acquire) <
        tree->children) {
        op->event = &mine->event;
        return false;
    }
    if (tree->children > 0)
        atomic_store_explicit(&mine->counter.value, 0, memory_order_relaxed);
    return true;
}

static void push_up(struct aspx_node_area *area,
                    const struct aspx_node_tree *tree)
{
    struct aspx_node_flags *parent = &area->flags[tree->parent];

    if (atomic_fetch_add_explicit(&parent->counter.value, 1,
                                  memory_order_acq_rel) +
            1 ==
        tree->siblings)
        aspx_event_notify(&parent->event);
}

bool aspx_node_sync_gather(struct aspx_node_op *op)
{
    struct aspx_node_area *area = op->area;
    const struct aspx_node_tree *tree = aspx_node_tree(op);
    bool pull = op->config.up == ASPX_NODE_PULL;

    if (!(pull ? pull_children(op, tree) : count_children(op, tree)))
        return false;
    if (tree->place == 0)
        return true;
    if (pull)
        aspx_node_raise(area, &aspx_node_mine(area)->arrived, number_of(area));
    else
        push_up(area, tree);
    return true;
}

static bool is_released(struct aspx_node_op *op,
                        const struct aspx_node_tree *tree)
{
    struct aspx_node_area *area = op->area;

    if (tree->place == 0)
        return true;
    if (op->config.down == ASPX_NODE_PULL)
        return aspx_node_reached(op, tree->parent,
                                 &area->flags[tree->parent].released,
                                 number_of(area));
    return aspx_node_reached(op, area->index, &aspx_node_mine(area)->told,
                             number_of(area));
}

static void push_down(struct aspx_node_area *area,
                      const struct aspx_node_tree *tree)
{
    for (uint32_t at = 0; at < tree->children; at++) {
        struct aspx_node_flags *child =
            &area->flags[aspx_node_tree_child(tree, at)];

        atomic_store_explicit(&child->told.value, number_of(area),
                              memory_order_release);
        aspx_event_notify(&child->event);
    }
}

bool aspx_node_sync_release(struct aspx_node_op *op)
{
    struct aspx_node_area *area = op->area;
    const struct aspx_node_tree *tree = aspx_node_tree(op);

    if (!is_released(op, tree))
        return false;
    if (tree->children > 0) {
        if (op->config.down == ASPX_NODE_PULL)
            aspx_node_raise(area, &aspx_node_mine(area)->released,
                            number_of(area));
        else
            push_down(area, tree);
    }
    area->syncs++;
    /* Whoever came here reads nothing of before any more. */
    area->all_done = aspx_node_now(op) - 1;
    return true;
}
