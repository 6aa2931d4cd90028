/* SPDX-License-Identifier: BSD-3-Clause */
/* The canonical form of a datatype's map of bytes: a tree of loops and lists
 * over blocks of bytes that lie side by side, in the order of the typemap,
 * which is the order of the packed stream.
 *
 *   LOOP     count copies of a child, stride bytes apart
 *   OFFSETS  a child at each of count offsets
 *   PARTS    count children of their own, each at its offset
 *
 * A child is a node, or NULL for a block of bytes. Equal children may be shared
 * by their parents. A node is never changed once it is there, never empty, and
 * lives in a region.
 * What makes a node merges: blocks that touch become one, a loop whose copies
 * touch a block, a loop of a loop with the matching stride one loop, a list
 * with equal distances a loop, a short list within a list a part of it. */
#ifndef ASPEN_RUNTIME_PACK_NODE_H
#define ASPEN_RUNTIME_PACK_NODE_H

#include "region.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Packing recurses that far at most; types of programs reach 4. */
enum { ASPX_NODE_DEPTH_MAX = 32 };

enum aspx_node_kind { ASPX_NODE_LOOP, ASPX_NODE_OFFSETS, ASPX_NODE_PARTS };

struct aspx_part {
    int64_t offset;  /* bytes from the origin of the list */
    uint64_t before; /* bytes of the stream that lie before it in the list */
};

struct aspx_node {
    enum aspx_node_kind kind;
    unsigned depth; /* nodes on the longest way down, this one included */
    uint64_t count; /* not 0 */
    uint64_t size;  /* bytes of the stream, not 0 */
    int64_t lo, hi; /* it touches bytes lo to hi - 1 from its origin */

    /* LOOP, OFFSETS: the child, and its bytes of the stream. */
    const struct aspx_node *child;
    uint64_t each;

    union {
        int64_t stride;         /* LOOP */
        const int64_t *offsets; /* OFFSETS */
        struct {                /* PARTS */
            /* one more than count: before is size there */
            const struct aspx_part *parts;
            const struct aspx_node *const *children; /* NULL: blocks only */
        };
    };
};

/* A node, or a block of bytes where node is NULL, and where its origin is. Size
 * 0: nothing at all. */
struct aspx_placed {
    int64_t offset;
    uint64_t size;
    const struct aspx_node *node;
};

/* The i-th child of a node, where it is there. */
struct aspx_child {
    const struct aspx_node *node;
    uint64_t begin, size; /* in the stream of its parent */
    int64_t offset;
};

static inline struct aspx_child aspx_node_child(const struct aspx_node *node,
                                                uint64_t i)
{
    if (node->kind == ASPX_NODE_PARTS)
        return (struct aspx_child){
            .node = node->children ? node->children[i] : NULL,
            .begin = node->parts[i].before,
            .size = node->parts[i + 1].before - node->parts[i].before,
            .offset = node->parts[i].offset,
        };
    return (struct aspx_child){
        .node = node->child,
        .begin = i * node->each,
        .size = node->each,
        .offset = node->kind == ASPX_NODE_LOOP ? (int64_t) i * node->stride
                                               : node->offsets[i],
    };
}

/* count copies, stride bytes apart. False: the region is full, or the form
 * would be deeper than ASPX_NODE_DEPTH_MAX, or a number does not fit (then
 * region->full is not set). */
bool aspx_node_loop(struct aspx_region *region, uint64_t count, int64_t stride,
                    struct aspx_placed child, struct aspx_placed *placed);

/* n of them one after the other; the array is used up. As above. */
bool aspx_node_list(struct aspx_region *region, struct aspx_placed *entries,
                    size_t n, struct aspx_placed *placed);

/* The bytes that it touches, from lo to hi - 1. False: they do not fit. */
bool aspx_node_span(struct aspx_placed placed, int64_t *lo, int64_t *hi);

#endif
