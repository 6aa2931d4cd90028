/* SPDX-License-Identifier: BSD-3-Clause */
/* One code for both directions: `buffer` is the side of the program, `stream`
 * the packed one, and only the leaves know which of them is written.
 *
 *   copy_range   some bytes of a node: the rest of the child that the range
 *                begins in, whole children, a part of the child it ends in
 *   copy_whole   several copies of a whole child, which are some way apart on
 *                both sides
 *
 * Copies of a short list or loop are turned inside out: first entry of all
 * copies, second entry of all copies, ... so that the innermost loop is long.
 */
#include "config.h"

#include "engine.h"

#include "strided.h"

enum {
    /* Copies that are turned inside out at a time: their lines of the buffer
     * and of the stream stay in the first cache (2 * 64 of 512). */
    TILE = 64,
    /* Below that many copies the turn costs more than it saves. */
    TURN_MIN = 4,
    /* Larger children, in bytes of the stream, are not turned: their copies
     * would fall into the same few sets of the cache. */
    TURN_BYTES_MAX = 512,
    /* A loop as long as that is long enough an innermost loop by itself. */
    LONG_LOOP = 8,
};

static void copy_whole(bool unpack, const struct aspx_node *node, uint64_t each,
                       struct aspx_copies c);

static void copy_block(bool unpack, char *buffer, char *stream, uint64_t bytes)
{
    if (unpack)
        aspx_copy_block(buffer, stream, bytes);
    else
        aspx_copy_block(stream, buffer, bytes);
}

/* ---- children first .. first + n - 1 of one node -------------------------- */

static void copy_loop(bool unpack, const struct aspx_node *loop, uint64_t first,
                      uint64_t n, char *buffer, char *stream)
{
    copy_whole(unpack, loop->child, loop->each,
               (struct aspx_copies){
                   .buffer = aspx_at(buffer, (int64_t) first * loop->stride),
                   .buffer_stride = loop->stride,
                   .stream = stream,
                   .stream_stride = (int64_t) loop->each,
                   .n = n,
               });
}

static void copy_offsets(bool unpack, const struct aspx_node *list,
                         uint64_t first, uint64_t n, char *buffer, char *stream)
{
    copy_whole(unpack, list->child, list->each,
               (struct aspx_copies){
                   .buffer = buffer,
                   .offsets = list->offsets + first,
                   .stream = stream,
                   .stream_stride = (int64_t) list->each,
                   .n = n,
               });
}

static void copy_parts(bool unpack, const struct aspx_node *list,
                       uint64_t first, uint64_t n, char *buffer, char *stream)
{
    const struct aspx_part *part = list->parts + first;
    const uint64_t begin = part->before;

    for (uint64_t i = first; i < first + n; i++, part++) {
        const struct aspx_node *child = list->children ? list->children[i]
                                                       : NULL;
        const uint64_t each = part[1].before - part->before;
        char *here = aspx_at(buffer, part->offset);
        char *there = stream + (part->before - begin);

        if (child)
            copy_whole(
                unpack, child, each,
                (struct aspx_copies){.buffer = here, .stream = there, .n = 1});
        else
            copy_block(unpack, here, there, each);
    }
}

static void copy_children(bool unpack, const struct aspx_node *node,
                          uint64_t first, uint64_t n, char *buffer,
                          char *stream)
{
    static void (*const copy[])(bool, const struct aspx_node *, uint64_t,
                                uint64_t, char *, char *) = {
        [ASPX_NODE_LOOP] = copy_loop,
        [ASPX_NODE_OFFSETS] = copy_offsets,
        [ASPX_NODE_PARTS] = copy_parts,
    };

    copy[node->kind](unpack, node, first, n, buffer, stream);
}

/* ---- where children are --------------------------------------------------- */

/* The child that has this byte of the stream; count for the byte after all. */
static uint64_t child_with(const struct aspx_node *node, uint64_t byte)
{
    uint64_t low = 0, high = node->count;

    if (byte == node->size)
        return node->count;
    if (node->kind != ASPX_NODE_PARTS)
        return byte / node->each;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;

        if (node->parts[middle].before <= byte)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* ---- a range of one node -------------------------------------------------- */

/* Bytes from .. to - 1 of it; `stream` points to the first of them. */
static void copy_range(bool unpack, const struct aspx_node *node, char *buffer,
                       uint64_t from, uint64_t to, char *stream)
{
    const uint64_t begin = from;
    char *const first = stream;
    struct aspx_child child;
    uint64_t i, last;

    if (!node) {
        copy_block(unpack, aspx_at(buffer, (int64_t) from), stream, to - from);
        return;
    }
    i = child_with(node, from);
    child = aspx_node_child(node, i);
    if (from > child.begin || to < child.begin + child.size) {
        uint64_t end = child.begin + child.size;

        end = end < to ? end : to;
        copy_range(unpack, child.node, aspx_at(buffer, child.offset),
                   from - child.begin, end - child.begin, stream);
        stream += end - from;
        from = end;
        i++;
    }
    if (from == to)
        return;
    last = child_with(node, to);
    if (last > i)
        copy_children(unpack, node, i, last - i, buffer, stream);
    if (last == node->count)
        return;
    child = aspx_node_child(node, last);
    if (to > child.begin)
        copy_range(unpack, child.node, aspx_at(buffer, child.offset), 0,
                   to - child.begin, first + (child.begin - begin));
}

/* ---- copies of a whole child ---------------------------------------------- */

/* Child by child, each of all copies. */
static void copy_turned(bool unpack, const struct aspx_node *node,
                        const struct aspx_copies *c)
{
    for (uint64_t i = 0; i < node->count; i++) {
        const struct aspx_child child = aspx_node_child(node, i);
        struct aspx_copies part = *c;

        part.buffer = aspx_at(part.buffer, child.offset);
        part.stream += child.begin;
        copy_whole(unpack, child.node, child.size, part);
    }
}

/* Where the copies from the n-th on are. */
static void skip_copies(struct aspx_copies *c, uint64_t n)
{
    if (c->offsets)
        c->offsets += n;
    c->buffer = aspx_at(c->buffer, (int64_t) n * c->buffer_stride);
    c->stream += (int64_t) n * c->stream_stride;
    c->n -= n;
}

static void copy_in_tiles(bool unpack, const struct aspx_node *node,
                          struct aspx_copies c)
{
    while (c.n) {
        struct aspx_copies tile = c;

        tile.n = c.n < TILE ? c.n : TILE;
        copy_turned(unpack, node, &tile);
        skip_copies(&c, tile.n);
    }
}

static bool is_turned(const struct aspx_node *node, uint64_t n)
{
    return n >= TURN_MIN && node->size <= TURN_BYTES_MAX &&
           (node->kind != ASPX_NODE_LOOP || node->count < LONG_LOOP);
}

static void copy_one_by_one(bool unpack, const struct aspx_node *node,
                            struct aspx_copies c)
{
    for (; c.n; skip_copies(&c, 1))
        copy_children(unpack, node, 0, node->count,
                      c.offsets ? aspx_at(c.buffer, *c.offsets) : c.buffer,
                      c.stream);
}

static void copy_whole(bool unpack, const struct aspx_node *node, uint64_t each,
                       struct aspx_copies c)
{
    if (!node)
        aspx_copy_blocks(unpack, &c, each);
    else if (node->kind == ASPX_NODE_LOOP && !node->child)
        aspx_copy_runs(unpack, &c, node->count, node->stride, node->each);
    else if (is_turned(node, c.n))
        copy_in_tiles(unpack, node, c);
    else
        copy_one_by_one(unpack, node, c);
}

/* ---- elements of a typemap ------------------------------------------------- */

static uint64_t copy_elements(bool unpack, const struct aspx_typemap *typemap,
                              char *buffer, uint64_t count, uint64_t from,
                              char *stream, uint64_t bytes)
{
    struct aspx_node elements = {
        .kind = ASPX_NODE_LOOP,
        .count = count,
        .child = typemap->node,
        .each = typemap->size,
        .stride = typemap->extent,
    };

    if (!aspx_typemap_bytes(typemap, count, &elements.size) ||
        from >= elements.size || bytes == 0)
        return 0;
    if (bytes > elements.size - from)
        bytes = elements.size - from;
    copy_range(unpack, &elements, aspx_at(buffer, typemap->offset), from,
               from + bytes, stream);
    return bytes;
}

/* The cast only takes const away of what is read. */
uint64_t aspx_typemap_pack(const struct aspx_typemap *typemap,
                           const void *buffer, uint64_t count, uint64_t from,
                           void *stream, uint64_t bytes)
{
    return copy_elements(false, typemap, (char *) (uintptr_t) buffer, count,
                         from, stream, bytes);
}

uint64_t aspx_typemap_unpack(const struct aspx_typemap *typemap, void *buffer,
                             uint64_t count, uint64_t from, const void *stream,
                             uint64_t bytes)
{
    return copy_elements(true, typemap, buffer, count, from,
                         (char *) (uintptr_t) stream, bytes);
}
