/* SPDX-License-Identifier: BSD-3-Clause */
/* The tree that leaders, the first ghosts of their nodes, talk along. */
#ifndef ASPEN_RUNTIME_ADAPT_NODE_LEADERS_H
#define ASPEN_RUNTIME_ADAPT_NODE_LEADERS_H

#include "runtime/casper/arena/engine.h"

#include <stdint.h>

enum { ASPX_LEADER_CHILDREN = 8 }; /* 9 nodes need two steps, 73 four */

struct aspx_leader_tree {
    int parent; /* world rank; -1: this one is the root */
    uint32_t nchildren;
    int child[ASPX_LEADER_CHILDREN];
};

/* Of all nodes that have a leader; the one of node `root` is the root, or the
 * first if that has none. Returns 0, or -1 without memory. */
int aspx_leader_tree_build(const struct aspx_engine *engine, uint32_t root,
                           struct aspx_leader_tree *tree_p);

#endif
