/* SPDX-License-Identifier: BSD-3-Clause */
/* Scatter and gather along a tree. Source: Nishtala (tree.h), sections 5.2.2
 * and 5.2.3. A subtree is an interval of virtual ranks, so it moves as one
 * piece; only at a root other than 0 the one subtree that goes over the last
 * rank is put together in scratch memory. */
#include "common/coll/build/algorithms.h"

#include <errno.h>

struct fan {
    struct asp_coll_maker *m;
    const struct asp_coll_group *g;
    const struct asp_coll_blocks *b;
    uint32_t root;
    uint32_t v; /* this rank's virtual rank */
    struct asp_coll_node node;
    struct asp_coll_place own;
    struct asp_coll_place all; /* of the subtree, from virtual rank v on */
};

static uint32_t peer(const struct fan *f, uint32_t v)
{
    return asp_coll_rank(f->g, asp_coll_actual(v, f->root, f->g->n));
}

/* Bytes of virtual ranks first to end - 1. */
static size_t bytes_of(const struct fan *f, uint32_t first, uint32_t end)
{
    uint32_t n = f->g->n, turn = n - f->root; /* virtual rank of rank 0 */

    if (end <= turn)
        return asp_coll_span(f->b, first + f->root, end + f->root);
    if (first >= turn)
        return asp_coll_span(f->b, first - turn, end - turn);
    return asp_coll_span(f->b, first + f->root, n) +
           asp_coll_span(f->b, 0, end - turn);
}

static bool over_the_end(const struct fan *f, struct asp_coll_branch branch)
{
    return branch.first < f->g->n - f->root && branch.end > f->g->n - f->root;
}

/* The root's blocks of a branch that goes over the end: copy both pieces. */
static void copy_pieces(const struct fan *f, struct asp_coll_branch branch,
                        struct asp_coll_place piece, bool to_blocks)
{
    uint32_t turn = f->g->n - f->root;
    size_t before = bytes_of(f, branch.first, turn);
    size_t after = bytes_of(f, turn, branch.end);
    struct asp_coll_place high = asp_coll_block(f->b, branch.first + f->root);
    struct asp_coll_place rest = asp_coll_past(piece, before);

    if (to_blocks) {
        asp_coll_copy(f->m->s, piece, high, before);
        asp_coll_copy(f->m->s, rest, asp_coll_block(f->b, 0), after);
    } else {
        asp_coll_copy(f->m->s, high, piece, before);
        asp_coll_copy(f->m->s, asp_coll_block(f->b, 0), rest, after);
    }
}

/* Where a branch is; *piece_p says that it is scratch memory of the root. */
static struct asp_coll_place place_of(const struct fan *f,
                                      struct asp_coll_branch branch,
                                      bool *piece_p)
{
    *piece_p = false;
    if (f->v)
        return asp_coll_past(f->all, bytes_of(f, f->v, branch.first));
    if (!over_the_end(f, branch))
        return asp_coll_block(f->b,
                              asp_coll_actual(branch.first, f->root, f->g->n));
    *piece_p = true;
    return asp_coll_scratch(f->m->s, bytes_of(f, branch.first, branch.end));
}

static void send_branch(const struct fan *f, struct asp_coll_branch branch)
{
    bool piece;
    struct asp_coll_place from = place_of(f, branch, &piece);

    if (piece)
        copy_pieces(f, branch, from, false);
    asp_coll_send(f->m->s, peer(f, branch.first), f->m->round, from,
                  bytes_of(f, branch.first, branch.end));
}

static void recv_branch(const struct fan *f, struct asp_coll_branch branch)
{
    bool piece;
    struct asp_coll_place to = place_of(f, branch, &piece);

    asp_coll_recv(f->m->s, peer(f, branch.first), f->m->round, to,
                  bytes_of(f, branch.first, branch.end));
    if (piece)
        copy_pieces(f, branch, to, true);
}

/* Find the tree, and a place for what goes through this rank. */
static bool prepare(struct fan *f, const struct asp_coll_tree *tree, bool held)
{
    f->v = asp_coll_virtual(f->g->me, f->root, f->g->n);
    if (asp_coll_tree_find(tree, f->g->n, f->v, &f->node) < 0) {
        f->m->s->error = ENOMEM;
        return false;
    }
    if (!f->v || held)
        f->all = asp_coll_block(f->b, f->g->me);
    else if (!f->node.nchildren)
        f->all = f->own;
    else
        f->all = asp_coll_scratch(f->m->s, bytes_of(f, f->v, f->node.end));
    return true;
}

void asp_coll_add_scatter(struct asp_coll_maker *m,
                          const struct asp_coll_group *g, uint32_t root,
                          const struct asp_coll_tree *tree,
                          const struct asp_coll_blocks *b, bool held,
                          struct asp_coll_place own)
{
    struct fan f = {.m = m, .g = g, .b = b, .root = root, .own = own};

    if (prepare(&f, tree, held)) {
        if (f.v)
            asp_coll_recv(m->s, peer(&f, f.node.parent), m->round, f.all,
                          bytes_of(&f, f.v, f.node.end));
        for (uint32_t c = 0; c < f.node.nchildren; c++)
            send_branch(&f, f.node.children[c]);
        asp_coll_move(m, f.all, own, asp_coll_span(b, g->me, g->me + 1));
    }
    asp_coll_node_destroy(&f.node);
}

void asp_coll_add_gather(struct asp_coll_maker *m,
                         const struct asp_coll_group *g, uint32_t root,
                         const struct asp_coll_tree *tree,
                         const struct asp_coll_blocks *b, bool held,
                         struct asp_coll_place own)
{
    struct fan f = {.m = m, .g = g, .b = b, .root = root, .own = own};

    if (prepare(&f, tree, held)) {
        asp_coll_move(m, own, f.all, asp_coll_span(b, g->me, g->me + 1));
        for (uint32_t c = f.node.nchildren; c-- > 0;)
            recv_branch(&f, f.node.children[c]);
        if (f.v)
            asp_coll_send(m->s, peer(&f, f.node.parent), m->round, f.all,
                          bytes_of(&f, f.v, f.node.end));
    }
    asp_coll_node_destroy(&f.node);
}
