/* SPDX-License-Identifier: BSD-3-Clause */
/* Each rank writes its block to its slots, the root reads them in turn. */
#include "config.h"

#include "phases.h"

size_t aspx_node_block_max(const struct aspx_node_blocks *blocks,
                           uint32_t count)
{
    size_t max = 0;

    for (uint32_t r = 0; r < count; r++)
        if (aspx_node_block_size(blocks, r) > max)
            max = aspx_node_block_size(blocks, r);
    return max;
}

static bool give(struct aspx_node_op *op)
{
    struct aspx_node_area *area = op->area;

    aspx_node_put(op, op->root, op->root + 1);
    aspx_node_raise(area, &aspx_node_mine(area)->ready, aspx_node_now(op));
    return true;
}

/* Of one rank, whose segment is there. What comes from a rank that has another
 * size is not awaited beyond the first segment. */
static void take_from(struct aspx_node_op *op, uint32_t rank, size_t bytes)
{
    char *to = op->out + aspx_node_block_offset(op->blocks, rank);

    op->bytes = bytes;
    if (op->segment == 0)
        aspx_node_accept(op, aspx_node_slot(op, rank)->bytes, 0);
    aspx_node_copy(to + op->segment * op->piece, aspx_node_data(op, rank),
                   aspx_node_length(op, op->bytes));
}

static bool collect(struct aspx_node_op *op)
{
    struct aspx_node_area *area = op->area;

    for (; op->at < area->count; op->at++) {
        size_t bytes = aspx_node_block_size(op->blocks, op->at);

        if (op->at == area->index ||
            (op->segment > 0 && aspx_node_length(op, bytes) == 0))
            continue;
        if (!aspx_node_reached(op, op->at, &area->flags[op->at].ready,
                               aspx_node_now(op)))
            return false;
        take_from(op, op->at, bytes);
    }
    if (op->error != 0)
        op->segments = 1;
    aspx_node_raise_done(op);
    return true;
}

static aspx_node_phase *const root_phases[] = {collect, NULL};
static aspx_node_phase *const phases[] = {aspx_node_slot_is_free, give, NULL};

static void begin_root(struct aspx_node_op *op)
{
    const struct aspx_node_blocks *blocks = op->blocks;
    struct aspx_node_area *area = op->area;

    if (op->in)
        aspx_node_accept(op, aspx_node_block_size(blocks, area->index), 0);
    if (op->in)
        aspx_node_copy(op->out + aspx_node_block_offset(blocks, area->index),
                       op->in, op->bytes);
    aspx_node_cut(op, aspx_node_block_max(blocks, area->count), op->piece);
    op->has_ended |= area->count == 1;
}

static void start(struct aspx_node_op *op, struct aspx_node_area *area,
                  const struct aspx_node_config *config, const void *in,
                  size_t bytes, void *out,
                  const struct aspx_node_blocks *blocks, uint32_t root)
{
    aspx_node_begin(op, area, config,
                    root == area->index ? root_phases : phases);
    op->root = root;
    op->in = in;
    op->out = out;
    op->bytes = bytes;
    op->blocks = blocks;
    aspx_node_cut(op, bytes, op->config.segment);
    if (root == area->index && !op->has_ended)
        begin_root(op);
}

int aspx_node_gather(struct aspx_node_area *area,
                     const struct aspx_node_config *config, const void *in,
                     size_t bytes, void *out,
                     const struct aspx_node_blocks *blocks, uint32_t root)
{
    struct aspx_node_op op;

    start(&op, area, config, in, bytes, out, blocks, root);
    return aspx_node_wait(&op);
}
