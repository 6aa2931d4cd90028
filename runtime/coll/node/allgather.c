/* SPDX-License-Identifier: BSD-3-Clause */
/* Each rank writes a segment of its block to its slot; when all have, each
 * copies all of them. The next sync says that the slots were read. */
#include "config.h"

#include "phases.h"

/* Beginning with the next rank, so that not all read the same memory. */
static bool take_all(struct aspx_node_op *op)
{
    struct aspx_node_area *area = op->area;
    size_t own_bytes = op->bytes;

    (void) aspx_node_all_agree(op, false);
    for (uint32_t i = 1; i < area->count; i++) {
        uint32_t rank = (area->index + i) % area->count;
        char *to = op->out + aspx_node_block_offset(op->blocks, rank);

        op->bytes = aspx_node_block_size(op->blocks, rank);
        aspx_node_accept(op, aspx_node_slot(op, rank)->bytes, 0);
        aspx_node_copy(to + op->segment * op->piece, aspx_node_data(op, rank),
                       aspx_node_length(op, op->bytes));
    }
    op->bytes = own_bytes;
    return true;
}

static aspx_node_phase *const phases[] = {aspx_node_slot_is_free,
                                          aspx_node_put_for_all,
                                          aspx_node_sync_gather,
                                          aspx_node_sync_release,
                                          take_all,
                                          NULL};

static void start(struct aspx_node_op *op, struct aspx_node_area *area,
                  const struct aspx_node_config *config, const void *in,
                  size_t bytes, void *out,
                  const struct aspx_node_blocks *blocks)
{
    char *own = (char *) out + aspx_node_block_offset(blocks, area->index);

    aspx_node_begin(op, area, config, phases);
    op->in = in ? in : own;
    op->out = out;
    op->bytes = in ? bytes : aspx_node_block_size(blocks, area->index);
    op->blocks = blocks;
    if (in) {
        aspx_node_accept(op, aspx_node_block_size(blocks, area->index), 0);
        aspx_node_copy(own, in, op->bytes);
        op->bytes = bytes;
    }
    aspx_node_cut(op, aspx_node_block_max(blocks, area->count),
                  op->config.segment);
    op->has_ended |= area->count == 1;
}

int aspx_node_allgather(struct aspx_node_area *area,
                        const struct aspx_node_config *config, const void *in,
                        size_t bytes, void *out,
                        const struct aspx_node_blocks *blocks)
{
    struct aspx_node_op op;

    start(&op, area, config, in, bytes, out, blocks);
    return aspx_node_wait(&op);
}
