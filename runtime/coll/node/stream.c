/* SPDX-License-Identifier: BSD-3-Clause */
/* Down the tree: the rank at its top writes segments to its slots, all others
 * read them there. Only the news goes along the tree, so that not all wait for
 * the same line of memory, or are to be woken by the same rank.
 *
 *     top      copies to slot s%2, relay = s ----> s+1 ... until the slot is free
 *     inner    sees the parent's relay, sets its own, copies out, done = s
 *     leaf     sees the parent's relay,               copies out, done = s */
#include "config.h"

#include "phases.h"

bool aspx_node_await_first(struct aspx_node_op *op)
{
    struct aspx_node_area *area = op->area;
    const struct aspx_node_tree *tree = aspx_node_tree(op);

    if (!aspx_node_reached(op, tree->parent, &area->flags[tree->parent].relay,
                           aspx_node_now(op)))
        return false;
    if (tree->children > 0)
        aspx_node_raise(area, &aspx_node_mine(area)->relay, aspx_node_now(op));
    op->segments = aspx_node_slot(op, op->first)->segments;
    return true;
}

void aspx_node_take(struct aspx_node_op *op, const char *from)
{
    aspx_node_copy(op->out + op->segment * op->piece, from,
                   aspx_node_length(op, op->bytes));
    aspx_node_raise_done(op);
}
