/* SPDX-License-Identifier: BSD-3-Clause */
/* Every rank's slot is cut into equal parts, one for each rank, which reads it
 * there. How many segments there are is nobody's but a pair's affair: a rank
 * writes as many as its largest block has, reads from another as many as it
 * expects from there, and waits for no rank that has nothing for it.
 *
 * The least segment that a rank is at: all others have read what was in its
 * slots two segments before, so it is written, and can be read. */
#include "config.h"

#include "phases.h"

/* op->bytes is the largest block that is sent. All say how long theirs are. */
static bool writes(const struct aspx_node_op *op)
{
    return op->segment == 0 || aspx_node_length(op, op->bytes) > 0;
}

static bool await_slot(struct aspx_node_op *op)
{
    return !writes(op) || aspx_node_slot_is_free(op);
}

static bool give(struct aspx_node_op *op)
{
    struct aspx_node_area *area = op->area;
    struct aspx_node_slot *slot = aspx_node_slot(op, area->index);
    char *data = aspx_node_data(op, area->index);

    if (!writes(op))
        return true;
    for (uint32_t r = 0; r < area->count; r++) {
        size_t bytes = aspx_node_block_size(op->sent, r);
        const char *from = op->in + aspx_node_block_offset(op->sent, r);

        slot->sizes[r] = bytes;
        if (r != area->index)
            aspx_node_copy(data + r * op->piece, from + op->segment * op->piece,
                           aspx_node_length(op, bytes));
    }
    aspx_node_fill(op, 0, area->count);
    aspx_node_raise(area, &aspx_node_mine(area)->ready, aspx_node_now(op));
    return true;
}

/* A segment that is there. */
static void take_from(struct aspx_node_op *op, uint32_t rank)
{
    uint32_t me = op->area->index;
    size_t sent = op->bytes;
    char *to = op->out + aspx_node_block_offset(op->blocks, rank);

    op->bytes = aspx_node_block_size(op->blocks, rank);
    if (op->segment == 0)
        aspx_node_accept(op, aspx_node_slot(op, rank)->sizes[me], 0);
    aspx_node_copy(to + op->segment * op->piece,
                   aspx_node_data(op, rank) + me * op->piece,
                   aspx_node_length(op, op->bytes));
    op->bytes = sent;
}

/* Beginning with the next rank, so that not all read the same memory. After an
 * error no segment but the first is awaited: it may never come. */
static bool take_all(struct aspx_node_op *op)
{
    struct aspx_node_area *area = op->area;

    for (; op->at + 1 < area->count; op->at++) {
        uint32_t rank = (area->index + 1 + op->at) % area->count;
        size_t bytes = aspx_node_block_size(op->blocks, rank);

        if (aspx_node_length(op, bytes) == 0 ||
            (op->segment > 0 && op->error != 0))
            continue;
        if (!aspx_node_reached(op, rank, &area->flags[rank].ready,
                               aspx_node_now(op)))
            return false;
        take_from(op, rank);
    }
    aspx_node_raise_done(op);
    return true;
}

static aspx_node_phase *const phases[] = {await_slot, give, take_all, NULL};

static void copy_own(struct aspx_node_op *op)
{
    uint32_t me = op->area->index;

    op->bytes = aspx_node_block_size(op->blocks, me);
    aspx_node_accept(op, aspx_node_block_size(op->sent, me), 0);
    aspx_node_copy(op->out + aspx_node_block_offset(op->blocks, me),
                   op->in + aspx_node_block_offset(op->sent, me), op->bytes);
}

static void start(struct aspx_node_op *op, struct aspx_node_area *area,
                  const struct aspx_node_config *config, const void *in,
                  const struct aspx_node_blocks *sent, void *out,
                  const struct aspx_node_blocks *received)
{
    size_t piece, expected = aspx_node_block_max(received, area->count);

    aspx_node_begin(op, area, config, phases);
    op->in = in;
    op->out = out;
    op->sent = sent;
    op->blocks = received;
    copy_own(op);
    op->bytes = aspx_node_block_max(sent, area->count);
    piece = op->config.segment / area->count / ASPX_NODE_LINE * ASPX_NODE_LINE;
    aspx_node_cut(op, op->bytes > expected ? op->bytes : expected,
                  piece > 0 ? piece : ASPX_NODE_LINE);
    op->has_ended |= area->count == 1;
}

int aspx_node_alltoall(struct aspx_node_area *area,
                       const struct aspx_node_config *config, const void *in,
                       const struct aspx_node_blocks *sent, void *out,
                       const struct aspx_node_blocks *received)
{
    struct aspx_node_op op;

    start(&op, area, config, in, sent, out, received);
    return aspx_node_wait(&op);
}
