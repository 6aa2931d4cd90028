/* SPDX-License-Identifier: BSD-3-Clause */
/* How contributions are reduced. MPI's reduction is inout = in op inout, so
 * whatever is reduced goes from the last rank to the first: its accumulator
 * begins as a copy of the last contribution, and each before that is put in
 * front of it. That is rank order, without a copy of what others only read.
 *
 *   tree     my slot = my own op (child 1 op (child 2 op ...)); a child stands
 *            for the ranks from itself to the next child
 *   shares   slot of the last rank, my share of it, in place; the same order as
 *            of a flat tree that begins with rank 0
 *   each     my result; the same order again */
#include "config.h"

#include "phases.h"

#include <mpi.h>

bool aspx_node_begin_reduction(struct aspx_node_op *op,
                               const struct aspx_node_operator *operator,
                               const void * in, void *out, size_t count)
{
    size_t element = operator->element;

    op->operator= operator;
    op->in = in;
    op->out = out;
    op->bytes = count * element;
    if (element == 0 || element > ASPX_NODE_SEGMENT_MIN) {
        op->error = MPI_ERR_TYPE;
        op->has_ended = true;
    }
    if (op->has_ended)
        return false;
    if (operator->reproducible)
        op->config.radix = ASPX_NODE_RANKS_MAX;
    aspx_node_cut(op, op->bytes, op->config.segment / element * element);
    return !op->has_ended;
}

void aspx_node_reduce_local(struct aspx_node_op *op, char *inout,
                            const char *in, size_t bytes)
{
    const struct aspx_node_operator *operator= op->operator;
    int rc = MPI_SUCCESS;

    if (bytes > 0)
        rc = operator->reduce(inout, in,
                              bytes / operator->element, operator->arg);
    if (rc != MPI_SUCCESS)
        op->error = rc;
}

/* op->at counts from the last child. */
static void reduce_child(struct aspx_node_op *op, uint32_t child)
{
    const struct aspx_node_slot *slot = aspx_node_slot(op, child);
    char *mine = aspx_node_data(op, op->area->index);
    size_t bytes;

    if (op->segment == 0 && slot->bytes != op->bytes)
        op->error = MPI_ERR_TRUNCATE;
    if (slot->error != MPI_SUCCESS)
        op->error = (int) slot->error;
    bytes = aspx_node_length(op,
                             op->bytes < slot->bytes ? op->bytes : slot->bytes);
    if (op->at == 0)
        aspx_node_copy(mine, aspx_node_data(op, child), bytes);
    else
        aspx_node_reduce_local(op, mine, aspx_node_data(op, child), bytes);
}

/* Children that differ may write fewer segments than I: after an error they are
 * not waited for. */
bool aspx_node_reduce_children(struct aspx_node_op *op)
{
    struct aspx_node_area *area = op->area;
    const struct aspx_node_tree *tree = aspx_node_tree(op);
    char *mine = aspx_node_data(op, area->index);
    const char *in = op->in + op->segment * op->piece;
    size_t bytes = aspx_node_length(op, op->bytes);

    for (; op->at < tree->children; op->at++) {
        uint32_t child = aspx_node_tree_child(tree,
                                              tree->children - 1 - op->at);

        if (op->error != MPI_SUCCESS && op->segment > 0)
            continue;
        if (!aspx_node_reached(op, child, &area->flags[child].ready,
                               aspx_node_now(op)))
            return false;
        reduce_child(op, child);
    }
    if (tree->children == 0)
        aspx_node_copy(mine, in, bytes);
    else if (op->error == MPI_SUCCESS)
        aspx_node_reduce_local(op, mine, in, bytes);
    return true;
}

bool aspx_node_send_up(struct aspx_node_op *op)
{
    struct aspx_node_area *area = op->area;
    const struct aspx_node_tree *tree = aspx_node_tree(op);
    uint32_t reader = tree->place == 0 ? op->root : tree->parent;

    aspx_node_fill(op, reader, reader + 1);
    aspx_node_raise(area, &aspx_node_mine(area)->ready, aspx_node_now(op));
    return true;
}

/* Where share number i of so many bytes begins: at a line of memory where an
 * element ends there. */
static size_t share_begin(const struct aspx_node_op *op, size_t bytes,
                          uint32_t i)
{
    size_t element = op->operator->element;
    size_t unit = ASPX_NODE_LINE % element ? element : ASPX_NODE_LINE;
    size_t units = (bytes + unit - 1) / unit;
    size_t begin = units * i / op->area->count * unit;

    return begin < bytes ? begin : bytes;
}

bool aspx_node_reduce_share(struct aspx_node_op *op)
{
    uint32_t me = op->area->index, last = op->area->count - 1;
    size_t bytes = aspx_node_length(op, op->bytes);
    size_t begin = share_begin(op, bytes, me);
    size_t end = share_begin(op, bytes, me + 1);

    if (!aspx_node_all_agree(op, true))
        return true;
    for (uint32_t r = last; r-- > 0;)
        aspx_node_reduce_local(op, aspx_node_data(op, last) + begin,
                               aspx_node_data(op, r) + begin, end - begin);
    return true;
}

bool aspx_node_reduce_all(struct aspx_node_op *op)
{
    uint32_t last = op->area->count - 1;
    size_t bytes = aspx_node_length(op, op->bytes);
    char *out = op->out + op->segment * op->piece;

    if (!aspx_node_all_agree(op, true))
        return true;
    aspx_node_copy(out, aspx_node_data(op, last), bytes);
    for (uint32_t r = last; r-- > 0;)
        aspx_node_reduce_local(op, out, aspx_node_data(op, r), bytes);
    return true;
}
