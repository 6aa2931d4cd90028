/* SPDX-License-Identifier: BSD-3-Clause */
/* Trees of ranks. All but Bine trees come from one rule: a node owns an
 * interval of virtual ranks and is its first; the rest of it is cut into
 * intervals, one for each child. So the subtree of a child is contiguous, and
 * gather and scatter move it as one piece. Virtual rank v is rank (v + root)
 * mod n.
 *
 *   kary k     the rest is cut into k parts, as even as can be; k = 1 is a chain,
 *              k >= n - 1 the flat tree
 *   knomial k  strides k^j from the largest below n: k - 1 children for each
 *              stride, the farthest first, so that who sends is never idle while
 *              data travels; k = 2 is the binomial tree
 *   fork D     a chain for each dimension of a box of sides D = d0 x d1 x ...,
 *              n <= d0 d1 ...; the virtual ranks count through it, last
 *              dimension fastest
 *   bine       the binomial tree with its 2^s nodes numbered otherwise: in step
 *              i of s an even v sends to v + d, an odd one to v - d, modulo 2^s,
 *              with d = (1 - (-2)^(s - i)) / 3, so that messages go two thirds as
 *              far. A node is in the middle of its subtree, not its first, so
 *              the tree is no good for blocks and for operands in order. n
 *              between powers of two: intervals of one or two ranks, of which
 *              the first is in the tree and the other its leaf
 *
 * Source: De Sensi et al., "Bine Trees: Enhancing Collective Operations by
 * Optimizing Communication Locality" (SC 2025), for bine; for the others:
 * Nishtala, "Automatically Tuning Collective Communication for
 * One-Sided Programming Models" (UC Berkeley, 2009), section 5.1.2. */
#ifndef ASPEN_COMMON_COLL_SCHEDULE_TREE_H
#define ASPEN_COMMON_COLL_SCHEDULE_TREE_H

#include <stdint.h>

enum asp_coll_shape {
    ASP_COLL_KARY,
    ASP_COLL_KNOMIAL,
    ASP_COLL_FORK,
    ASP_COLL_BINE,
    ASP_COLL_SHAPES,
};

enum { ASP_COLL_DIMS = 4 };

struct asp_coll_tree {
    enum asp_coll_shape shape;
    uint32_t k;                   /* kary >= 1, knomial >= 2; else 0 */
    uint16_t dims[ASP_COLL_DIMS]; /* of fork; 0 ends it */
};

/* A child: virtual ranks first to end - 1, of which first is the child. In a
 * Bine tree end is first + 1, whatever is below it. */
struct asp_coll_branch {
    uint32_t first;
    uint32_t end;
};

/* Where a virtual rank sits in the tree. */
struct asp_coll_node {
    uint32_t parent; /* virtual rank; its own, of the root */
    uint32_t end;   /* the subtree is virtual ranks v to end - 1; not of bine */
    uint32_t depth; /* edges to the root */
    uint32_t nchildren;
    struct asp_coll_branch *children; /* in the order of sending */
    uint32_t capacity;                /* of children; grown as needed */
};

/* Find virtual rank v in a tree of n.
 *   node  all zeros, or of an earlier call (its memory is used again)
 * Returns 0, or -1 with errno ENOMEM. Free with asp_coll_node_destroy().
 * Threads: reentrant.  Cost: O(depth * children of a node). */
int asp_coll_tree_find(const struct asp_coll_tree *tree, uint32_t n, uint32_t v,
                       struct asp_coll_node *node);

void asp_coll_node_destroy(struct asp_coll_node *node);

/* Sides of a box of ndims dimensions for n nodes, as even as can be, largest
 * first. Returns 0 when n has no box of so many sides of 2 or more. */
int asp_coll_tree_box(uint32_t n, uint32_t ndims, uint16_t dims[ASP_COLL_DIMS]);

#endif
