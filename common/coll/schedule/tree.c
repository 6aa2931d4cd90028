/* SPDX-License-Identifier: BSD-3-Clause */
/* Trees: the rule that cuts an interval for the children of its first rank, and
 * the way down from the root. */
#include "common/coll/schedule/tree.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool add_child(struct asp_coll_node *node, uint32_t first, uint32_t end)
{
    uint32_t capacity = node->capacity ? 2 * node->capacity : 8;
    struct asp_coll_branch *children;

    if (node->nchildren == node->capacity) {
        children = realloc(node->children, capacity * sizeof(*children));
        if (!children)
            return false;
        node->children = children;
        node->capacity = capacity;
    }
    node->children[node->nchildren++] = (struct asp_coll_branch){first, end};
    return true;
}

/* The first parts are the larger ones; the last part is sent to first. */
static bool cut_kary(uint32_t k, uint32_t v, uint32_t end,
                     struct asp_coll_node *node)
{
    uint32_t rest = end - v - 1, parts = rest < k ? rest : k;

    for (uint32_t i = parts; i-- > 0;) {
        uint32_t more = rest % parts, each = rest / parts;
        uint32_t first = v + 1 + i * each + (i < more ? i : more);

        if (!add_child(node, first, first + each + (i < more)))
            return false;
    }
    return true;
}

static bool cut_knomial(uint32_t k, uint32_t v, uint32_t end,
                        struct asp_coll_node *node)
{
    uint64_t stride = 1;

    while (stride * k < end - v)
        stride *= k;
    for (; stride; stride /= k)
        for (uint32_t i = k; --i > 0;) {
            uint64_t first = v + i * stride, past = first + stride;

            if (first < end && !add_child(node, (uint32_t) first,
                                          past < end ? (uint32_t) past : end))
                return false;
        }
    return true;
}

/* Nodes of a slice of a box below dimension d. */
static uint64_t fork_stride(const struct asp_coll_tree *tree, int d)
{
    uint64_t stride = 1;

    for (int i = d + 1; i < ASP_COLL_DIMS && tree->dims[i]; i++)
        stride *= tree->dims[i];
    return stride;
}

/* The next of each chain that v is in: of dimension d only if v is the first of
 * its slice in all dimensions after d. */
static bool cut_fork(const struct asp_coll_tree *tree, uint32_t v, uint32_t end,
                     struct asp_coll_node *node)
{
    uint64_t limit = end;

    for (int d = 0; d < ASP_COLL_DIMS && tree->dims[d]; d++) {
        uint64_t stride = fork_stride(tree, d);

        if (v % stride)
            continue;
        if (v + stride < limit) {
            if (!add_child(node, (uint32_t) (v + stride), (uint32_t) limit))
                return false;
            limit = v + stride;
        }
    }
    return true;
}

static bool cut(const struct asp_coll_tree *tree, uint32_t v, uint32_t end,
                struct asp_coll_node *node)
{
    node->nchildren = 0;
    switch (tree->shape) {
    case ASP_COLL_KARY:
        return cut_kary(tree->k, v, end, node);
    case ASP_COLL_KNOMIAL:
        return cut_knomial(tree->k, v, end, node);
    case ASP_COLL_FORK:
        return cut_fork(tree, v, end, node);
    case ASP_COLL_BINE: /* not cut: find_bine() */
    case ASP_COLL_SHAPES:
        break;
    }
    return true;
}

static int find(const struct asp_coll_tree *tree, uint32_t n, uint32_t v,
                struct asp_coll_node *node)
{
    uint32_t at = 0, end = n;

    node->parent = 0;
    node->depth = 0;
    while (cut(tree, at, end, node)) {
        struct asp_coll_branch next = {v, v};

        node->end = end;
        if (at == v)
            return 0;
        for (uint32_t i = 0; i < node->nchildren; i++)
            if (node->children[i].first <= v && v < node->children[i].end)
                next = node->children[i];
        node->parent = at;
        node->depth++;
        at = next.first;
        end = next.end;
    }
    errno = ENOMEM;
    return -1;
}

/* ---- Bine trees ------------------------------------------------------------ */

/* The digits of negabinary numbers that count down: 2, 8, 32... */
static const uint32_t NEGATIVE = 0xaaaaaaaa;

/* The node of a binomial tree that a Bine tree of 2^s has for v. The path from
 * 0 to v is a sum of distances d whose signs alternate, and each two of them
 * are a run of ones in the negabinary digits of v. So the steps in which the
 * path goes on are those where the digits change. */
static uint32_t binomial_of(uint32_t v, uint32_t size)
{
    uint32_t digits = ((v + NEGATIVE) ^ NEGATIVE) & (size - 1);

    return digits ^ digits >> 1;
}

static uint32_t bine_of(uint32_t node, uint32_t size)
{
    uint32_t digits = node;

    for (int shift = 1; shift < 32; shift *= 2)
        digits ^= digits >> shift;
    return ((digits ^ NEGATIVE) - NEGATIVE) & (size - 1);
}

/* Where interval i of n virtual ranks begins: the last ones are longer, so that
 * the root is alone as long as can be. */
static uint32_t interval_of(uint32_t n, uint32_t size, uint32_t i)
{
    uint32_t pairs = n - size;

    return i + (i > size - pairs ? i - (size - pairs) : 0);
}

/* From the binomial tree of `size` to virtual ranks of n. */
static void rename_node(uint32_t n, uint32_t size, struct asp_coll_node *node)
{
    node->parent = interval_of(n, size, bine_of(node->parent, size));
    for (uint32_t c = 0; c < node->nchildren; c++) {
        struct asp_coll_branch *child = &node->children[c];

        child->first = interval_of(n, size, bine_of(child->first, size));
        child->end = child->first + 1;
    }
}

static int find_bine(uint32_t n, uint32_t v, struct asp_coll_node *node)
{
    static const struct asp_coll_tree binomial = {.shape = ASP_COLL_KNOMIAL,
                                                  .k = 2};
    uint32_t size = 1, alone, i;

    while (size <= n / 2)
        size *= 2;
    alone = 2 * size - n;
    i = v < alone ? v : alone + (v - alone) / 2;
    if (find(&binomial, size, binomial_of(i, size), node) < 0)
        return -1;
    rename_node(n, size, node);
    node->end = v + 1;
    if (v != interval_of(n, size, i)) { /* the leaf of its interval */
        node->parent = v - 1;
        node->depth++;
        node->nchildren = 0;
    } else if (i >= alone && !add_child(node, v + 1, v + 2)) {
        errno = ENOMEM;
        return -1;
    }
    return 0;
}

int asp_coll_tree_find(const struct asp_coll_tree *tree, uint32_t n, uint32_t v,
                       struct asp_coll_node *node)
{
    return tree->shape == ASP_COLL_BINE ? find_bine(n, v, node)
                                        : find(tree, n, v, node);
}

void asp_coll_node_destroy(struct asp_coll_node *node)
{
    free(node->children);
    *node = (struct asp_coll_node){0};
}

/* The smallest side that, to the power of ndims, holds n. */
static uint32_t side_of(uint32_t n, uint32_t ndims)
{
    for (uint32_t side = 1;; side++) {
        uint64_t volume = 1;

        for (uint32_t d = 0; d < ndims && volume < n; d++)
            volume *= side;
        if (volume >= n)
            return side;
    }
}

int asp_coll_tree_box(uint32_t n, uint32_t ndims, uint16_t dims[ASP_COLL_DIMS])
{
    memset(dims, 0, ASP_COLL_DIMS * sizeof(*dims));
    for (uint32_t d = 0; d < ndims; d++) {
        uint32_t side = side_of(n, ndims - d);

        if (side < 2 || side > UINT16_MAX)
            return 0;
        dims[d] = (uint16_t) side;
        n = (n + side - 1) / side;
    }
    return 1;
}
