/* SPDX-License-Identifier: BSD-3-Clause */
/* Broadcast inside of a node: the root writes a segment into its slot as soon
 * as that is free, and the others copy it from there. */
#include "config.h"

#include "phases.h"

static bool give(struct aspx_node_op *op)
{
    struct aspx_node_area *area = op->area;

    aspx_node_put(op, 0, area->count);
    aspx_node_raise(area, &aspx_node_mine(area)->relay, aspx_node_now(op));
    return true;
}

static bool take(struct aspx_node_op *op)
{
    if (op->segment == 0)
        aspx_node_accept(op, aspx_node_slot(op, op->root)->bytes, 0);
    aspx_node_take(op, aspx_node_data(op, op->root));
    return true;
}

static aspx_node_phase *const root_phases[] = {aspx_node_slot_is_free, give,
                                               NULL};
static aspx_node_phase *const phases[] = {aspx_node_await_first, take, NULL};

static void start(struct aspx_node_op *op, struct aspx_node_area *area,
                  const struct aspx_node_config *config, void *buffer,
                  size_t bytes, uint32_t root)
{
    aspx_node_begin(op, area, config,
                    root == area->index ? root_phases : phases);
    op->root = op->first = root;
    op->in = op->out = buffer;
    op->bytes = bytes;
    aspx_node_cut(op, bytes, op->config.segment);
    op->has_ended |= area->count == 1;
}

int aspx_node_bcast(struct aspx_node_area *area,
                    const struct aspx_node_config *config, void *buffer,
                    size_t bytes, uint32_t root)
{
    struct aspx_node_op op;

    start(&op, area, config, buffer, bytes, root);
    return aspx_node_wait(&op);
}
