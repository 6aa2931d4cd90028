/* SPDX-License-Identifier: BSD-3-Clause */
/* The tree along which signals and reductions go: the ranks in order, beginning
 * with some first one, cut into parts. A rank stands for all ranks from itself
 * to the next part's begin, and its children for equal parts of those behind
 * it:
 *
 *     10 ranks, radix 3      0: 0-9
 *                            |-- 1: 1-3 -- 2, 3
 *                            |-- 4: 4-6 -- 5, 6
 *                            `-- 7: 7-9 -- 8, 9
 *
 * So whoever reduces its own contribution and then its children's, in order,
 * has reduced in rank order. (Nishtala's k-ary tree, section 5.1.2.) */
#ifndef ASPEN_RUNTIME_COLL_NODE_TREE_H
#define ASPEN_RUNTIME_COLL_NODE_TREE_H

#include <stdint.h>

struct aspx_node_tree {
    uint32_t radix, first, count; /* what it was made for */
    uint32_t place;    /* of this rank: ranks behind first, around the end */
    uint32_t parent;   /* rank; this one's in the first */
    uint32_t children; /* how many */
    uint32_t stride;   /* ranks from one child to the next */
    uint32_t siblings; /* children of the parent */
};

/* The tree as this rank sees it.
 *   radix  1..; rank, first < count */
void aspx_node_tree_make(struct aspx_node_tree *tree, uint32_t count,
                         uint32_t rank, uint32_t radix, uint32_t first);

/* Child number `at`, in order. */
static inline uint32_t aspx_node_tree_child(const struct aspx_node_tree *tree,
                                            uint32_t at)
{
    uint32_t place = tree->place + 1 + at * tree->stride;

    return (tree->first + place) % tree->count;
}

#endif
