/* SPDX-License-Identifier: BSD-3-Clause */
/* Up the tree to rank 0 and down again; by shares; or each on its own. Where
 * ranks differ, rank 0 learns it on the way up and ends all with the segment.
 */
#include "config.h"

#include "phases.h"

#include <mpi.h>

static bool turn(struct aspx_node_op *op)
{
    struct aspx_node_area *area = op->area;

    if (op->error != MPI_SUCCESS)
        op->segments = op->segment + 1;
    aspx_node_fill(op, 0, area->count);
    aspx_node_raise(area, &aspx_node_mine(area)->relay, aspx_node_now(op));
    aspx_node_copy(op->out + op->segment * op->piece,
                   aspx_node_data(op, area->index),
                   aspx_node_length(op, op->bytes));
    aspx_node_raise_done(op);
    return true;
}

static bool take(struct aspx_node_op *op)
{
    const struct aspx_node_slot *slot = aspx_node_slot(op, 0);

    aspx_node_accept(op, slot->bytes, slot->error);
    aspx_node_take(op, aspx_node_data(op, 0));
    return true;
}

static bool take_shares(struct aspx_node_op *op)
{
    aspx_node_copy(op->out + op->segment * op->piece,
                   aspx_node_data(op, op->area->count - 1),
                   aspx_node_length(op, op->bytes));
    return true;
}

static aspx_node_phase *const top_phases[] = {
    aspx_node_slot_is_free, aspx_node_reduce_children, turn, NULL};
static aspx_node_phase *const tree_phases[] = {aspx_node_slot_is_free,
                                               aspx_node_reduce_children,
                                               aspx_node_send_up,
                                               aspx_node_await_first,
                                               take,
                                               NULL};
static aspx_node_phase *const share_phases[] = {aspx_node_slot_is_free,
                                                aspx_node_put_for_all,
                                                aspx_node_sync_gather,
                                                aspx_node_sync_release,
                                                aspx_node_reduce_share,
                                                aspx_node_sync_gather,
                                                aspx_node_sync_release,
                                                take_shares,
                                                NULL};
static aspx_node_phase *const each_phases[] = {
    aspx_node_slot_is_free, aspx_node_put_for_all, aspx_node_sync_gather,
    aspx_node_sync_release, aspx_node_reduce_all,  NULL};

static aspx_node_phase *const *choose_phases(const struct aspx_node_area *area,
                                             uint8_t reduction)
{
    if (reduction == ASPX_NODE_REDUCE_SHARES)
        return share_phases;
    if (reduction == ASPX_NODE_REDUCE_EACH)
        return each_phases;
    return area->index == 0 ? top_phases : tree_phases;
}

static void start(struct aspx_node_op *op, struct aspx_node_area *area,
                  const struct aspx_node_config *config,
                  const struct aspx_node_operator *operator, const void * in,
                  void *out, size_t count)
{
    aspx_node_begin(op, area, config, choose_phases(area, config->reduction));
    if (aspx_node_begin_reduction(op, operator, in, out, count) &&
        area->count == 1) {
        if (in != out)
            aspx_node_copy(out, in, op->bytes);
        op->has_ended = true;
    }
}

int aspx_node_allreduce(struct aspx_node_area *area,
                        const struct aspx_node_config *config,
                        const struct aspx_node_operator *operator,
                        const void * in, void *out, size_t count)
{
    struct aspx_node_op op;

    start(&op, area, config, operator, in, out, count);
    return aspx_node_wait(&op);
}
