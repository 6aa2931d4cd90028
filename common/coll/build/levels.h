/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows "levels": ranks of a node do something among themselves, its leaders
 * among those of all nodes, and then the ranks of the node again. Nodes need
 * neither be consecutive nor equal. Private to common/coll. */
#ifndef ASPEN_COMMON_COLL_BUILD_LEVELS_H
#define ASPEN_COMMON_COLL_BUILD_LEVELS_H

#include "common/coll/build/maker.h"

enum { ASP_COLL_NOBODY = -1 };

/* The ranks of this rank's node. */
struct asp_coll_group asp_coll_local(const struct asp_coll_maker *m);

/* The number of this rank's node, and of another's. */
uint32_t asp_coll_node_of(const struct asp_coll_maker *m, uint32_t rank);

/* Index of a rank among those of its node. */
uint32_t asp_coll_local_index(const struct asp_coll_maker *m, uint32_t rank);

/* The local rank number `index` of each node, or the last (index
 * ASP_COLL_LAST); rank `instead`, unless NOBODY, in the place of its node's.
 * *is_p: this rank is one. False when memory is short. */
enum { ASP_COLL_LAST = INT32_MAX };
bool asp_coll_leaders(struct asp_coll_maker *m, uint32_t index, int64_t instead,
                      struct asp_coll_group *g_p, bool *is_p);

/* The tree inside of nodes. */
struct asp_coll_tree asp_coll_inner(const struct asp_coll_maker *m);

/* Offsets of the blocks of all ranks in the order of nodes, by position. NULL
 * as asp_coll_keep(). */
const size_t *asp_coll_by_node(struct asp_coll_maker *m);

/* Offsets of what all ranks of a node have together: at as above. */
const size_t *asp_coll_of_nodes(struct asp_coll_maker *m, const size_t *at);

/* Copy blocks between the order of ranks (offsets of rank r: by_rank[r]) and
 * that of nodes, neighbours together; but not those of rank `not`, unless
 * NOBODY. */
void asp_coll_reorder(struct asp_coll_maker *m, struct asp_coll_place ranks,
                      const size_t *by_rank, struct asp_coll_place nodes,
                      const size_t *by_node, bool to_nodes, int64_t not_rank);

#endif
