/* SPDX-License-Identifier: BSD-3-Clause */
/* Writing to the own slots, and saying that others' were read. A rank has two
 * and uses them in turn, so it is at most two segments ahead of its readers:
 * also across operations, in which it has other ones. */
#include "config.h"

#include "phases.h"

#include <mpi.h>

static struct aspx_node_readers *readers_of(const struct aspx_node_op *op)
{
    uint64_t number = (op->sequence >> ASPX_NODE_SEQUENCE_BITS) + op->segment;

    return &op->area->readers[number % 2];
}

bool aspx_node_slot_is_free(struct aspx_node_op *op)
{
    struct aspx_node_area *area = op->area;
    const struct aspx_node_readers *readers = readers_of(op);

    if (aspx_node_is_past(area->all_done, readers->until))
        return true;
    for (; readers->first + op->at < readers->end; op->at++) {
        uint32_t reader = readers->first + op->at;

        if (reader != area->index &&
            !aspx_node_reached(op, reader, &area->flags[reader].done,
                               readers->until))
            return false;
    }
    return true;
}

void aspx_node_fill(struct aspx_node_op *op, uint32_t first, uint32_t end)
{
    struct aspx_node_slot *slot = aspx_node_slot(op, op->area->index);

    slot->bytes = op->bytes;
    slot->segments = op->segments;
    slot->error = (uint64_t) op->error;
    *readers_of(op) = (struct aspx_node_readers){
        .until = aspx_node_now(op),
        .first = first,
        .end = end,
    };
}

void aspx_node_put(struct aspx_node_op *op, uint32_t first, uint32_t end)
{
    aspx_node_copy(aspx_node_data(op, op->area->index),
                   op->in + op->segment * op->piece,
                   aspx_node_length(op, op->bytes));
    aspx_node_fill(op, first, end);
}

bool aspx_node_put_for_all(struct aspx_node_op *op)
{
    aspx_node_put(op, 0, op->area->count);
    return true;
}

void aspx_node_raise_done(struct aspx_node_op *op)
{
    aspx_node_raise(op->area, &aspx_node_mine(op->area)->done,
                    aspx_node_now(op));
}

void aspx_node_accept(struct aspx_node_op *op, uint64_t bytes, uint64_t error)
{
    if (error != MPI_SUCCESS && op->error == MPI_SUCCESS)
        op->error = (int) error;
    if (bytes == op->bytes)
        return;
    op->error = MPI_ERR_TRUNCATE;
    if (bytes < op->bytes)
        op->bytes = (size_t) bytes;
}

bool aspx_node_all_agree(struct aspx_node_op *op, bool same_bytes)
{
    if (op->segment > 0)
        return true;
    for (uint32_t r = 0; r < op->area->count; r++) {
        const struct aspx_node_slot *slot = aspx_node_slot(op, r);

        if (slot->segments == op->segments &&
            (slot->bytes == op->bytes || !same_bytes))
            continue;
        op->error = MPI_ERR_TRUNCATE;
        op->segments = 1;
        return false;
    }
    return true;
}
