/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes nodes in their merged form, from the innermost type outward. All
 * arithmetic is checked: a type whose bytes an int64_t cannot count has no
 * node. */
#include "config.h"

#include "node.h"

#include <string.h>

/* A list within a list is copied into it when that makes it no longer than
 * this: one list is faster than two, and memory stays bounded. */
enum { SPLICED_MAX = 256 };

static bool is_block(struct aspx_placed placed)
{
    return !placed.node;
}

bool aspx_node_span(struct aspx_placed placed, int64_t *lo, int64_t *hi)
{
    int64_t from = is_block(placed) ? 0 : placed.node->lo;
    int64_t to = is_block(placed) ? (int64_t) placed.size : placed.node->hi;

    return placed.size <= INT64_MAX &&
           !__builtin_add_overflow(placed.offset, from, lo) &&
           !__builtin_add_overflow(placed.offset, to, hi);
}

/* Is it the same, wherever it is? */
static bool is_like(struct aspx_placed a, struct aspx_placed b)
{
    const struct aspx_node *p = a.node, *q = b.node;

    while (p != q && p && q && p->kind == ASPX_NODE_LOOP &&
           q->kind == ASPX_NODE_LOOP && p->count == q->count &&
           p->stride == q->stride) {
        p = p->child;
        q = q->child;
    }
    return a.size == b.size && p == q;
}

/* ---- loops ---------------------------------------------------------------- */

/* Widen the span of one copy to all of them. */
static bool span_loop(struct aspx_node *loop, struct aspx_placed child)
{
    int64_t reach;

    if (!aspx_node_span(child, &loop->lo, &loop->hi) ||
        loop->count - 1 > INT64_MAX ||
        __builtin_mul_overflow((int64_t) loop->count - 1, loop->stride, &reach))
        return false;
    if (reach < 0)
        return !__builtin_add_overflow(loop->lo, reach, &loop->lo);
    return !__builtin_add_overflow(loop->hi, reach, &loop->hi);
}

static bool add_loop(struct aspx_region *region, uint64_t count, int64_t stride,
                     struct aspx_placed child, struct aspx_placed *placed)
{
    struct aspx_node loop =
                         {
                             .kind = ASPX_NODE_LOOP,
                             .depth = child.node ? child.node->depth + 1 : 1,
                             .count = count,
                             .size = placed->size,
                             .child = child.node,
                             .each = child.size,
                             .stride = stride,
                         },
                     *node;

    placed->offset = child.offset;
    child.offset = 0;
    if (loop.depth > ASPX_NODE_DEPTH_MAX || !span_loop(&loop, child))
        return false;
    node = aspx_region_take(region, 1, sizeof(*node));
    if (!node)
        return false;
    *node = loop;
    placed->node = node;
    return true;
}

/* Do copies at this distance go on where a loop ends? */
static bool continues(int64_t stride, const struct aspx_node *loop)
{
    int64_t reach;

    return loop && loop->kind == ASPX_NODE_LOOP &&
           !__builtin_mul_overflow((int64_t) loop->count, loop->stride,
                                   &reach) &&
           reach == stride;
}

bool aspx_node_loop(struct aspx_region *region, uint64_t count, int64_t stride,
                    struct aspx_placed child, struct aspx_placed *placed)
{
    const struct aspx_node *inner = child.node;

    *placed = (struct aspx_placed){.offset = child.offset};
    if (__builtin_mul_overflow(count, child.size, &placed->size) ||
        placed->size > INT64_MAX)
        return false;
    if (placed->size == 0)
        return true;
    if (count == 1) {
        *placed = child;
        return true;
    }
    if (is_block(child) && (uint64_t) stride == child.size)
        return true;
    if (continues(stride, inner))
        return add_loop(
            region, count * inner->count, inner->stride,
            (struct aspx_placed){child.offset, inner->each, inner->child},
            placed);
    return add_loop(region, count, stride, child, placed);
}

/* ---- lists ---------------------------------------------------------------- */

/* Leave out what is empty, and make one block of blocks that touch. Returns
 * how many are left. */
static size_t merge(struct aspx_placed *entries, size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++) {
        struct aspx_placed *last = kept ? &entries[kept - 1] : NULL;

        if (entries[i].size == 0)
            continue;
        if (last && is_block(*last) && is_block(entries[i]) &&
            (uint64_t) entries[i].offset - (uint64_t) last->offset ==
                last->size)
            last->size += entries[i].size;
        else
            entries[kept++] = entries[i];
    }
    return kept;
}

static bool are_alike(const struct aspx_placed *entries, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (!is_like(entries[0], entries[i]))
            return false;
    return true;
}

/* The distance of each from the one before, if it is the same throughout. */
static bool are_regular(const struct aspx_placed *entries, size_t n,
                        int64_t *stride)
{
    if (__builtin_sub_overflow(entries[1].offset, entries[0].offset, stride))
        return false;
    for (size_t i = 2; i < n; i++) {
        int64_t step;

        if (__builtin_sub_overflow(entries[i].offset, entries[i - 1].offset,
                                   &step) ||
            step != *stride)
            return false;
    }
    return true;
}

/* Size, span and depth of a list, whose count is set. */
static bool measure_list(struct aspx_node *list,
                         const struct aspx_placed *entries)
{
    unsigned below = 0;

    list->lo = INT64_MAX;
    list->hi = INT64_MIN;
    for (size_t i = 0; i < list->count; i++) {
        int64_t lo, hi;

        if (!aspx_node_span(entries[i], &lo, &hi) ||
            __builtin_add_overflow(list->size, entries[i].size, &list->size) ||
            list->size > INT64_MAX)
            return false;
        list->lo = lo < list->lo ? lo : list->lo;
        list->hi = hi > list->hi ? hi : list->hi;
        if (entries[i].node && entries[i].node->depth > below)
            below = entries[i].node->depth;
    }
    list->depth = below + 1;
    return list->depth <= ASPX_NODE_DEPTH_MAX;
}

static bool fill_offsets(struct aspx_region *region, struct aspx_node *list,
                         const struct aspx_placed *entries)
{
    int64_t *offsets = aspx_region_take(region, list->count, sizeof(*offsets));

    if (!offsets)
        return false;
    for (size_t i = 0; i < list->count; i++)
        offsets[i] = entries[i].offset;
    list->kind = ASPX_NODE_OFFSETS;
    list->offsets = offsets;
    list->child = entries[0].node;
    list->each = entries[0].size;
    return true;
}

static bool fill_children(struct aspx_region *region, struct aspx_node *list,
                          const struct aspx_placed *entries)
{
    const struct aspx_node **children;
    size_t i = 0;

    while (i < list->count && is_block(entries[i]))
        i++;
    if (i == list->count)
        return true;
    list->children = children = aspx_region_take(region, list->count,
                                                 sizeof(const void *));
    if (!children)
        return false;
    for (i = 0; i < list->count; i++)
        children[i] = entries[i].node;
    return true;
}

static bool fill_parts(struct aspx_region *region, struct aspx_node *list,
                       const struct aspx_placed *entries)
{
    struct aspx_part *parts = aspx_region_take(region, list->count + 1,
                                               sizeof(*parts));
    uint64_t before = 0;

    if (!parts)
        return false;
    for (size_t i = 0; i < list->count; i++) {
        parts[i] = (struct aspx_part){entries[i].offset, before};
        before += entries[i].size;
    }
    parts[list->count] = (struct aspx_part){.before = before};
    list->kind = ASPX_NODE_PARTS;
    list->parts = parts;
    return fill_children(region, list, entries);
}

static bool add_list(struct aspx_region *region,
                     const struct aspx_placed *entries, size_t n,
                     struct aspx_placed *placed)
{
    struct aspx_node list = {.count = n}, *node;

    if (!measure_list(&list, entries) ||
        !(are_alike(entries, n) ? fill_offsets : fill_parts)(region, &list,
                                                             entries))
        return false;
    node = aspx_region_take(region, 1, sizeof(*node));
    if (!node)
        return false;
    *node = list;
    *placed = (struct aspx_placed){.size = list.size, .node = node};
    return true;
}

/* Lists of one entry, of none, and those that are loops. */
static bool add_merged(struct aspx_region *region,
                       const struct aspx_placed *entries, size_t n,
                       struct aspx_placed *placed)
{
    int64_t stride;

    if (n == 0)
        *placed = (struct aspx_placed){0};
    else if (n == 1)
        *placed = entries[0];
    else if (are_alike(entries, n) && are_regular(entries, n, &stride))
        return aspx_node_loop(region, n, stride, entries[0], placed);
    else
        return add_list(region, entries, n, placed);
    return true;
}

/* ---- lists within lists --------------------------------------------------- */

static bool is_list(struct aspx_placed placed)
{
    return placed.node && placed.node->kind != ASPX_NODE_LOOP;
}

/* Spans were found to fit, so the sum does, or its child lies far from it. */
static int64_t add_offsets(int64_t a, int64_t b)
{
    return (int64_t) ((uint64_t) a + (uint64_t) b);
}

static struct aspx_placed entry_of(struct aspx_placed list, size_t i)
{
    const struct aspx_node *node = list.node;

    if (node->kind == ASPX_NODE_OFFSETS)
        return (struct aspx_placed){add_offsets(list.offset, node->offsets[i]),
                                    node->each, node->child};
    return (struct aspx_placed){
        add_offsets(list.offset, node->parts[i].offset),
        node->parts[i + 1].before - node->parts[i].before,
        node->children ? node->children[i] : NULL,
    };
}

/* How many entries there are when lists are taken apart; 0: leave it. */
static size_t count_spliced(const struct aspx_placed *entries, size_t n)
{
    size_t all = 0;
    bool any = false;

    for (size_t i = 0; i < n && all <= SPLICED_MAX; i++) {
        all += is_list(entries[i]) ? entries[i].node->count : 1;
        any = any || is_list(entries[i]);
    }
    return any && all <= SPLICED_MAX ? all : 0;
}

static void splice(const struct aspx_placed *entries, size_t n,
                   struct aspx_placed *spliced)
{
    for (size_t i = 0; i < n; i++) {
        if (!is_list(entries[i]))
            *spliced++ = entries[i];
        else
            for (size_t k = 0; k < entries[i].node->count; k++)
                *spliced++ = entry_of(entries[i], k);
    }
}

bool aspx_node_list(struct aspx_region *region, struct aspx_placed *entries,
                    size_t n, struct aspx_placed *placed)
{
    struct aspx_placed spliced[SPLICED_MAX];
    size_t all;

    n = merge(entries, n);
    all = are_alike(entries, n) ? 0 : count_spliced(entries, n);
    if (!all)
        return add_merged(region, entries, n, placed);
    splice(entries, n, spliced);
    return add_merged(region, spliced, merge(spliced, all), placed);
}
