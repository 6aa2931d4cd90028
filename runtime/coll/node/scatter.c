/* SPDX-License-Identifier: BSD-3-Clause */
/* The root's slot is cut into equal parts, one for each rank. */
#include "config.h"

#include "phases.h"

static bool give(struct aspx_node_op *op)
{
    struct aspx_node_area *area = op->area;
    struct aspx_node_slot *slot = aspx_node_slot(op, area->index);
    char *data = aspx_node_data(op, area->index);

    for (uint32_t r = 0; r < area->count; r++) {
        size_t bytes = aspx_node_block_size(op->blocks, r);
        const char *from = op->in + aspx_node_block_offset(op->blocks, r) +
                           op->segment * op->piece;

        slot->sizes[r] = bytes;
        if (r != area->index)
            aspx_node_copy(data + r * op->piece, from,
                           aspx_node_length(op, bytes));
    }
    aspx_node_fill(op, 0, area->count);
    aspx_node_raise(area, &aspx_node_mine(area)->relay, aspx_node_now(op));
    return true;
}

static bool take(struct aspx_node_op *op)
{
    uint32_t me = op->area->index;

    if (op->segment == 0)
        aspx_node_accept(op, aspx_node_slot(op, op->root)->sizes[me], 0);
    aspx_node_take(op, aspx_node_data(op, op->root) + me * op->piece);
    return true;
}

static aspx_node_phase *const root_phases[] = {aspx_node_slot_is_free, give,
                                               NULL};
static aspx_node_phase *const phases[] = {aspx_node_await_first, take, NULL};

/* Of the root: its own block, and how many segments the largest one has. */
static void begin_root(struct aspx_node_op *op)
{
    const struct aspx_node_blocks *blocks = op->blocks;
    struct aspx_node_area *area = op->area;

    if (op->out)
        aspx_node_accept(op, aspx_node_block_size(blocks, area->index), 0);
    if (op->out)
        aspx_node_copy(op->out,
                       op->in + aspx_node_block_offset(blocks, area->index),
                       op->bytes);
    aspx_node_cut(op, aspx_node_block_max(blocks, area->count), op->piece);
    op->has_ended |= area->count == 1;
}

static void start(struct aspx_node_op *op, struct aspx_node_area *area,
                  const struct aspx_node_config *config, const void *in,
                  const struct aspx_node_blocks *blocks, void *out,
                  size_t bytes, uint32_t root)
{
    size_t piece;

    aspx_node_begin(op, area, config,
                    root == area->index ? root_phases : phases);
    op->root = op->first = root;
    op->in = in;
    op->out = out;
    op->bytes = bytes;
    op->blocks = blocks;
    piece = op->config.segment / area->count / ASPX_NODE_LINE * ASPX_NODE_LINE;
    aspx_node_cut(op, bytes, piece > 0 ? piece : ASPX_NODE_LINE);
    if (root == area->index && !op->has_ended)
        begin_root(op);
}

int aspx_node_scatter(struct aspx_node_area *area,
                      const struct aspx_node_config *config, const void *in,
                      const struct aspx_node_blocks *blocks, void *out,
                      size_t bytes, uint32_t root)
{
    struct aspx_node_op op;

    start(&op, area, config, in, blocks, out, bytes, root);
    return aspx_node_wait(&op);
}
