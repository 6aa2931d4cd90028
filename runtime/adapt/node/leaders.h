/* SPDX-License-Identifier: BSD-3-Clause */
/* The tree that leaders, the first ghosts of their nodes, talk along. */
#ifndef ASPEN_RUNTIME_ADAPT_NODE_LEADERS_H
#define ASPEN_RUNTIME_ADAPT_NODE_LEADERS_H

#include "runtime/casper/arena/engine.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* Of each leader: 73 nodes are four steps apart at most. */
enum { ASPX_LEADER_CHILDREN = 8 };

struct aspx_leader_tree {
    int parent; /* world rank; -1: this one is the root */
    uint32_t nchildren;
    int child[ASPX_LEADER_CHILDREN];
};

/* The place of this process in the tree of all leaders. The root is the leader
 * of node `root`, or of the next node that has one. Returns 0, or -1 without
 * memory. */
int aspx_leader_tree_build(const struct aspx_engine *engine, uint32_t root,
                           struct aspx_leader_tree *tree_p);

/* Close the line to a neighbour: cancel the receive and let go of the send.
 * Returns whether the send has ended; if not, MPI still reads its buffer. */
bool aspx_leader_hang_up(MPI_Request *receive, MPI_Request *out);

#endif
