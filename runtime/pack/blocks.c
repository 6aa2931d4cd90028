/* SPDX-License-Identifier: BSD-3-Clause */
/* Visits the nodes of a typemap depth first, in the order of the packed stream.
 * */
#include "config.h"

#include "blocks.h"

/* What each block is handed to. */
struct visitor {
    aspx_block_f *visit;
    void *arg;
};

static void walk(const struct visitor *visitor, const struct aspx_node *node,
                 int64_t offset, uint64_t bytes)
{
    if (!node) {
        visitor->visit(visitor->arg, offset, bytes);
        return;
    }
    for (uint64_t i = 0; i < node->count; i++) {
        const struct aspx_child child = aspx_node_child(node, i);

        walk(visitor, child.node, offset + child.offset, child.size);
    }
}

void aspx_typemap_blocks(const struct aspx_typemap *typemap, uint64_t count,
                         aspx_block_f *visit, void *arg)
{
    const struct visitor visitor = {visit, arg};

    for (uint64_t i = 0; typemap->size > 0 && i < count; i++)
        walk(&visitor, typemap->node,
             typemap->offset + (int64_t) i * typemap->extent, typemap->size);
}
