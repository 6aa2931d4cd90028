/* SPDX-License-Identifier: BSD-3-Clause */
/* adapt=auto: in each round all leaders count under one order. Their workloads
 * are added up along the tree of leaders to the first user's node, where the
 * job controller (adapt/decide/job_controller.h) says what the next round is.
 * There is one message each way per round between two leaders, and nobody waits
 * for it. An order that no other follows in time lapses.
 *
 * Ghosts only, from the thread that calls MPI. */
#ifndef ASPEN_RUNTIME_ADAPT_NODE_SAMPLE_TREE_H
#define ASPEN_RUNTIME_ADAPT_NODE_SAMPLE_TREE_H

#include "runtime/adapt/node_status_page.h"

#include "runtime/casper/arena/engine.h"

struct aspx_sample_tree;

/* Both are borrowed; this process leads its node. Returns NULL without memory,
 * or when MPI fails. */
struct aspx_sample_tree *aspx_sample_tree_create(
    const struct aspx_engine *engine, struct aspx_node_status_page *page);

/* Often.
 *   wishing  users of the node that the predictor wants served by ghosts
 * Returns how many messages came, or -1 when MPI failed. */
int aspx_sample_tree_step(struct aspx_sample_tree *tree, uint64_t ticks,
                          uint32_t wishing);

/* When to come back at the latest if no message comes before: for the end of
 * what is under way, and to see the users' states often enough meanwhile.
 *   ticks  of the last step */
uint64_t aspx_sample_tree_due(const struct aspx_sample_tree *tree,
                              uint64_t ticks);

/* What is in force. */
enum aspx_order aspx_sample_tree_order(const struct aspx_sample_tree *tree);
enum aspx_help aspx_sample_tree_help(const struct aspx_sample_tree *tree);

/* Takes NULL. */
void aspx_sample_tree_destroy(struct aspx_sample_tree *tree);

#endif
