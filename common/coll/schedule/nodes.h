/* SPDX-License-Identifier: BSD-3-Clause */
/* Which ranks share a node. */
#ifndef ASPEN_COMMON_COLL_SCHEDULE_NODES_H
#define ASPEN_COMMON_COLL_SCHEDULE_NODES_H

#include <stdbool.h>
#include <stdint.h>

struct asp_coll_nodes {
    uint32_t n;           /* nodes, numbered by their lowest rank */
    uint32_t least, most; /* ranks of the smallest and the largest */
    bool blocks;          /* the ranks of each node follow one another */
    uint32_t *of;         /* number of a rank's node */
    uint32_t *first;    /* n + 1: where the ranks of a node begin in members */
    uint32_t *members;  /* ranks by node, then ascending */
    uint32_t *position; /* of a rank in members */
};

/* Sort the ranks.
 *   node  node[rank], below ranks; NULL: all on one
 * Returns 0, or -1 with errno ENOMEM or EINVAL (a number too large); *nodes_p
 * is then empty. Free with asp_coll_nodes_destroy().  Cost: O(ranks). */
int asp_coll_nodes_make(const uint32_t *node, uint32_t ranks,
                        struct asp_coll_nodes *nodes_p);

void asp_coll_nodes_destroy(struct asp_coll_nodes *nodes);

#endif
