/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of algorithms. */
#include "common/coll/build/rows.h"

/* clang-format off */
#define ROW(op, name, params, require, across, what, ...) \
    {ASP_COLL_##op, name, params, require, across, what, .build = __VA_ARGS__}
#define TREE         ASP_COLL_TREE
#define RADIX        ASP_COLL_RADIX
#define SEGMENT      ASP_COLL_SEGMENT
#define COMMUTATIVE  ASP_COLL_COMMUTATIVE
#define SMOOTH       ASP_COLL_SMOOTH

#define NODES        ASP_COLL_NODES
#define ORDERED      (ASP_COLL_NODES | ASP_COLL_ORDERED)
#define BLOCKS       (ASP_COLL_NODES | ASP_COLL_BLOCKS)
#define ACROSS       (ASP_COLL_ACROSS | ASP_COLL_INNER)
#define CHAIN        .chain = true
#define BIT(across)  (1u << ASP_COLL_ACROSS_##across)

/* The same for reduce_scatter and reduce_scatter_block. */
#define ROWS_OF_RS(op) \
    ROW(op, "flat", 0, 0, 0, "each pair of ranks for itself", \
        asp_coll_rs_pairs), \
    ROW(op, "halving", 0, 0, 0, "recursive halving", asp_coll_rs_halving), \
    ROW(op, "exchange", RADIX, 0, 0, "groups of k exchange what is needed", \
        asp_coll_rs_exchange), \
    ROW(op, "ring", 0, COMMUTATIVE, 0, "blocks go round and are reduced",  \
        asp_coll_rs_ring), \
    ROW(op, "tree", TREE | SEGMENT, 0, 0, "up a tree, and down as blocks", \
        asp_coll_rs_tree, CHAIN), \
    ROW(op, "levels", ACROSS, ORDERED, BIT(HALVING) | BIT(RING) | BIT(FLAT), \
        "leaders reduce the blocks of nodes", asp_coll_rs_levels)

#define ROWS_OF_ALLGATHER(op) \
    ROW(op, "ring", 0, 0, 0, "blocks go round", asp_coll_allgather_ring), \
    ROW(op, "exchange", RADIX, SMOOTH, 0, \
        "groups of k exchange what they have", asp_coll_allgather_exchange), \
    ROW(op, "dissemination", RADIX, 0, 0, \
        "what a rank has goes to k - 1 before it", \
        asp_coll_allgather_dissemination), \
    ROW(op, "tree", TREE | SEGMENT, 0, 0, "up a tree as blocks, and down", \
        asp_coll_allgather_tree), \
    ROW(op, "levels", ACROSS | RADIX, NODES, BIT(EXCHANGE) | BIT(RING), \
        "leaders exchange the blocks of nodes", asp_coll_allgather_levels)

#define ROWS_OF_SCAN(op) \
    ROW(op, "exchange", 0, 0, 0, "to ranks at doubling distances", \
        asp_coll_scan_exchange), \
    ROW(op, "chain", SEGMENT, 0, 0, "from rank to rank, in segments", \
        asp_coll_scan_chain, CHAIN), \
    ROW(op, "levels", ASP_COLL_INNER, BLOCKS, 0, \
        "in nodes, and over their last ranks", asp_coll_scan_levels)

const struct asp_coll_row asp_coll_row_table[] = {
    ROW(BARRIER, "dissemination", RADIX, 0, 0,
        "all tell k - 1 others in each round", asp_coll_barrier_dissemination),
    ROW(BARRIER, "tree", TREE, 0, 0, "up a tree, and down",
        asp_coll_barrier_tree),
    ROW(BARRIER, "levels", ACROSS | TREE | RADIX, NODES,
        BIT(TREE) | BIT(EXCHANGE), "in nodes, and over their leaders",
        asp_coll_barrier_levels),
    ROW(BCAST, "tree", TREE | SEGMENT, 0, 0, "down a tree, in segments",
        asp_coll_bcast_tree),
    ROW(BCAST, "scatter-ring", 0, 0, 0, "scatter, and a ring of the shares",
        asp_coll_bcast_spread),
    ROW(BCAST, "scatter-exchange", RADIX, 0, 0,
        "scatter, and exchanges of the shares", asp_coll_bcast_spread),
    ROW(BCAST, "levels", ACROSS | TREE | RADIX | SEGMENT, NODES,
        BIT(TREE) | BIT(EXCHANGE) | BIT(RING), "to leaders, and in nodes",
        asp_coll_bcast_levels),
    ROW(REDUCE, "tree", TREE | SEGMENT, 0, 0, "up a tree, in segments",
        asp_coll_reduce_tree, CHAIN),
    ROW(REDUCE, "halving", 0, 0, 0, "recursive halving, and gather",
        asp_coll_reduce_shares),
    ROW(REDUCE, "levels", ACROSS | TREE | SEGMENT, ORDERED,
        BIT(TREE) | BIT(HALVING), "in nodes, and over their leaders",
        asp_coll_reduce_levels),
    ROW(SCATTER, "tree", TREE, 0, 0, "down a tree", asp_coll_scatter_tree),
    ROW(SCATTER, "levels", ACROSS | TREE, NODES, BIT(TREE),
        "to leaders, and in nodes", asp_coll_scatter_levels),
    ROW(GATHER, "tree", TREE, 0, 0, "up a tree", asp_coll_gather_tree),
    ROW(GATHER, "levels", ACROSS | TREE, NODES, BIT(TREE),
        "in nodes, and over their leaders", asp_coll_gather_levels),
    ROWS_OF_ALLGATHER(ALLGATHER),
    ROW(ALLTOALL, "flat", 0, 0, 0, "each pair of ranks for itself",
        asp_coll_alltoall_flat),
    ROW(ALLTOALL, "bruck", RADIX, 0, 0, "blocks travel together, in hops",
        asp_coll_alltoall_bruck),
    ROW(ALLTOALL, "levels", ASP_COLL_ACROSS | RADIX, NODES, BIT(EXCHANGE) | BIT(FLAT),
        "leaders send all that goes to a node", asp_coll_alltoall_levels),
    ROW(ALLREDUCE, "tree", TREE | SEGMENT, 0, 0, "up a tree, and down",
        asp_coll_allreduce_tree, CHAIN),
    ROW(ALLREDUCE, "exchange", RADIX, 0, 0, "groups of k exchange vectors",
        asp_coll_allreduce_exchange),
    ROW(ALLREDUCE, "halving", 0, 0, 0, "recursive halving and doubling",
        asp_coll_allreduce_halving),
    ROW(ALLREDUCE, "ring", 0, COMMUTATIVE, 0, "shares go round twice",
        asp_coll_allreduce_ring),
    ROW(ALLREDUCE, "levels",
        ACROSS | TREE | RADIX | SEGMENT | ASP_COLL_LEADERS, ORDERED,
        BIT(TREE) | BIT(EXCHANGE) | BIT(RING) | BIT(HALVING),
        "in nodes, and leaders have a part each", asp_coll_allreduce_levels),
    ROWS_OF_RS(REDUCE_SCATTER_BLOCK),
    ROWS_OF_RS(REDUCE_SCATTER),
    ROWS_OF_SCAN(SCAN),
    ROWS_OF_SCAN(EXSCAN),
    ROW(SCATTERV, "flat", 0, 0, 0, "the root sends to each",
        asp_coll_scatterv_flat),
    ROW(GATHERV, "flat", 0, 0, 0, "the root receives from each",
        asp_coll_gatherv_flat),
    ROWS_OF_ALLGATHER(ALLGATHERV),
    ROW(ALLTOALLV, "flat", 0, 0, 0, "each pair of ranks for itself",
        asp_coll_alltoallv_flat),
    ROW(ALLTOALLV, "spread", RADIX, ASP_COLL_PART, 0,
        "with k ranks at a time",
        asp_coll_alltoallv_spread),
    ROW(ALLTOALLV, "pairwise", 0, 0, 0, "with one rank after the other",
        asp_coll_alltoallv_pairwise),
};
/* clang-format on */

const size_t asp_coll_row_count = sizeof(asp_coll_row_table) /
                                  sizeof(asp_coll_row_table[0]);
