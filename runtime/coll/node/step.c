/* SPDX-License-Identifier: BSD-3-Clause */
/* Goes through the phases of an operation; see phases.h. */
#include "config.h"

#include "phases.h"

#include <mpi.h>

#define LAST_SEGMENT ((UINT64_C(1) << ASPX_NODE_SEQUENCE_BITS) - 1)

bool aspx_node_config_is_valid(const struct aspx_node_config *config)
{
    return config->radix >= 1 && config->radix <= ASPX_NODE_RANKS_MAX &&
           config->segment >= ASPX_NODE_SEGMENT_MIN &&
           config->up < ASPX_NODE_SIGNALS && config->down < ASPX_NODE_SIGNALS &&
           config->waiter < ASPX_NODE_WAITERS &&
           config->reduction < ASPX_NODE_REDUCTIONS;
}

void aspx_node_begin(struct aspx_node_op *op, struct aspx_node_area *area,
                     const struct aspx_node_config *config,
                     aspx_node_phase *const *phases)
{
    bool valid = aspx_node_config_is_valid(config);

    *op = (struct aspx_node_op){
        .area = area,
        .config = *config,
        .phases = phases,
        .segments = 1,
        .sequence = ++area->operations << ASPX_NODE_SEQUENCE_BITS,
        .event = &aspx_node_mine(area)->event,
        .error = valid ? MPI_SUCCESS : MPI_ERR_ARG,
        .has_ended = !valid,
    };
    if (op->config.segment > area->slot_bytes)
        op->config.segment = (uint32_t) area->slot_bytes;
}

const struct aspx_node_tree *aspx_node_tree(struct aspx_node_op *op)
{
    struct aspx_node_area *area = op->area;
    struct aspx_node_tree *tree = &area->tree;

    if (tree->radix != op->config.radix || tree->first != op->first)
        aspx_node_tree_make(tree, area->count, area->index, op->config.radix,
                            op->first);
    return tree;
}

void aspx_node_cut(struct aspx_node_op *op, size_t bytes, size_t piece)
{
    op->piece = piece;
    op->segments = bytes > piece ? (bytes + piece - 1) / piece : 1;
    op->has_data = true;
    if (op->segments > LAST_SEGMENT) {
        op->error = MPI_ERR_COUNT;
        op->has_ended = true;
    }
}

static void end(struct aspx_node_op *op)
{
    if (op->has_data)
        aspx_node_raise(op->area, &aspx_node_mine(op->area)->done,
                        op->sequence + LAST_SEGMENT);
    op->has_ended = true;
}

bool aspx_node_step(struct aspx_node_op *op)
{
    while (!op->has_ended) {
        if (!op->phases[op->phase](op))
            return false;
        op->at = 0;
        if (op->phases[++op->phase])
            continue;
        op->phase = 0;
        if (++op->segment >= op->segments)
            end(op);
    }
    return true;
}
