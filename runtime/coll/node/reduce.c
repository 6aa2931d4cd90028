/* SPDX-License-Identifier: BSD-3-Clause */
/* Up the tree, or by shares (reduce_order.c). The tree begins at the root where
 * order does not matter, else at rank 0, from whose slot the root takes the
 * result. */
#include "config.h"

#include "phases.h"

#include <mpi.h>

static void take_from(struct aspx_node_op *op, uint32_t rank)
{
    aspx_node_copy(op->out + op->segment * op->piece, aspx_node_data(op, rank),
                   aspx_node_length(op, op->bytes));
}

static bool free_children(struct aspx_node_op *op)
{
    aspx_node_raise_done(op);
    return true;
}

/* The root at the top of the tree. */
static bool take_own(struct aspx_node_op *op)
{
    take_from(op, op->area->index);
    aspx_node_raise_done(op);
    return true;
}

/* The root elsewhere. It must not wait for a top that has other sizes, but has
 * to go on for its parent. */
static bool take_from_top(struct aspx_node_op *op)
{
    const struct aspx_node_slot *slot;

    if (op->error == MPI_SUCCESS || op->segment == 0) {
        if (!aspx_node_reached(op, op->first, &op->area->flags[op->first].ready,
                               aspx_node_now(op)))
            return false;
        slot = aspx_node_slot(op, op->first);
        if (slot->error != MPI_SUCCESS)
            op->error = (int) slot->error;
        if (slot->bytes != op->bytes)
            op->error = MPI_ERR_TRUNCATE;
        if (op->error == MPI_SUCCESS)
            take_from(op, op->first);
    }
    aspx_node_raise_done(op);
    return true;
}

static bool take_shares(struct aspx_node_op *op)
{
    if (op->area->index == op->root)
        take_from(op, op->area->count - 1);
    return true;
}

static aspx_node_phase *const top_phases[] = {
    aspx_node_slot_is_free, aspx_node_reduce_children, take_own, NULL};
static aspx_node_phase *const root_phases[] = {
    aspx_node_slot_is_free, aspx_node_reduce_children, aspx_node_send_up,
    take_from_top, NULL};
static aspx_node_phase *const phases[] = {
    aspx_node_slot_is_free, aspx_node_reduce_children, aspx_node_send_up,
    free_children, NULL};
static aspx_node_phase *const share_phases[] = {aspx_node_slot_is_free,
                                                aspx_node_put_for_all,
                                                aspx_node_sync_gather,
                                                aspx_node_sync_release,
                                                aspx_node_reduce_share,
                                                aspx_node_sync_gather,
                                                aspx_node_sync_release,
                                                take_shares,
                                                NULL};

static aspx_node_phase *const *choose_phases(const struct aspx_node_area *area,
                                             uint32_t root, uint32_t first)
{
    if (area->index != root)
        return phases;
    return root == first ? top_phases : root_phases;
}

static void start(struct aspx_node_op *op, struct aspx_node_area *area,
                  const struct aspx_node_config *config,
                  const struct aspx_node_operator *operator, const void * in,
                  void *out, size_t count, uint32_t root)
{
    bool shares = config->reduction == ASPX_NODE_REDUCE_SHARES;
    bool at_root =
        !shares && operator->is_commutative && !operator->reproducible;
    uint32_t first = at_root ? root : 0;

    aspx_node_begin(op, area, config,
                    shares ? share_phases : choose_phases(area, root, first));
    op->root = root;
    op->first = first;
    if (aspx_node_begin_reduction(op, operator, in, out, count) &&
        area->count == 1) {
        if (in != out)
            aspx_node_copy(out, in, op->bytes);
        op->has_ended = true;
    }
}

int aspx_node_reduce(struct aspx_node_area *area,
                     const struct aspx_node_config *config,
                     const struct aspx_node_operator *operator, const void * in,
                     void *out, size_t count, uint32_t root)
{
    struct aspx_node_op op;

    start(&op, area, config, operator, in, out, count, root);
    return aspx_node_wait(&op);
}
