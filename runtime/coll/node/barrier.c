/* SPDX-License-Identifier: BSD-3-Clause */
/* Barrier inside of a node: signals go up a tree of ranks and down again. No
 * data is moved. */
#include "config.h"

#include "phases.h"

static aspx_node_phase *const phases[] = {aspx_node_sync_gather,
                                          aspx_node_sync_release, NULL};

static void start(struct aspx_node_op *op, struct aspx_node_area *area,
                  const struct aspx_node_config *config)
{
    aspx_node_begin(op, area, config, phases);
}

int aspx_node_barrier(struct aspx_node_area *area,
                      const struct aspx_node_config *config)
{
    struct aspx_node_op op;

    start(&op, area, config);
    return aspx_node_wait(&op);
}
