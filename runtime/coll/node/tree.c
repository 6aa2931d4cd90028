/* SPDX-License-Identifier: BSD-3-Clause */
/* See tree.h. */
#include "config.h"

#include "tree.h"

static uint32_t parts_of(uint32_t ranks, uint32_t stride)
{
    return stride ? (ranks + stride - 1) / stride : 0;
}

/* From the top down, into the part in which the rank is. */
void aspx_node_tree_make(struct aspx_node_tree *tree, uint32_t count,
                         uint32_t rank, uint32_t radix, uint32_t first)
{
    uint32_t place = (rank + count - first) % count;
    uint32_t at = 0, end = count, parent = 0, siblings = 0, stride;

    for (;;) {
        stride = parts_of(end - at - 1, radix);
        if (at == place)
            break;
        parent = at;
        siblings = parts_of(end - at - 1, stride);
        at += 1 + (place - at - 1) / stride * stride;
        if (at + stride < end)
            end = at + stride;
    }
    *tree = (struct aspx_node_tree){
        .radix = radix,
        .first = first,
        .count = count,
        .place = place,
        .parent = (first + parent) % count,
        .children = parts_of(end - at - 1, stride),
        .stride = stride,
        .siblings = siblings,
    };
}
