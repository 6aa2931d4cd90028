/* SPDX-License-Identifier: BSD-3-Clause */
/* Nodes: a counting sort of the ranks by the first appearance of their node. */
#include "common/coll/schedule/nodes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int number_nodes(const uint32_t *node, uint32_t ranks,
                        struct asp_coll_nodes *nodes, uint32_t *number)
{
    memset(number, 0xff, ranks * sizeof(*number));
    nodes->blocks = true;
    for (uint32_t r = 0; r < ranks; r++) {
        uint32_t id = node ? node[r] : 0;

        if (id >= ranks) {
            errno = EINVAL;
            return -1;
        }
        if (number[id] == UINT32_MAX)
            number[id] = nodes->n++;
        else if (nodes->of[r - 1] != number[id])
            nodes->blocks = false;
        nodes->of[r] = number[id];
    }
    return 0;
}

static void sort_ranks(uint32_t ranks, struct asp_coll_nodes *nodes,
                       uint32_t *next)
{
    for (uint32_t r = 0; r < ranks; r++)
        nodes->first[nodes->of[r] + 1]++;
    nodes->least = ranks;
    for (uint32_t i = 0; i < nodes->n; i++) {
        uint32_t size = nodes->first[i + 1];

        nodes->least = size < nodes->least ? size : nodes->least;
        nodes->most = size > nodes->most ? size : nodes->most;
        nodes->first[i + 1] += nodes->first[i];
    }
    memcpy(next, nodes->first, nodes->n * sizeof(*next));
    for (uint32_t r = 0; r < ranks; r++) {
        nodes->position[r] = next[nodes->of[r]]++;
        nodes->members[nodes->position[r]] = r;
    }
}

int asp_coll_nodes_make(const uint32_t *node, uint32_t ranks,
                        struct asp_coll_nodes *nodes_p)
{
    struct asp_coll_nodes nodes = {0};
    uint32_t *work = malloc(ranks * sizeof(*work));
    int rc = -1;

    nodes.of = malloc(ranks * sizeof(*nodes.of));
    nodes.first = calloc(ranks + 1, sizeof(*nodes.first));
    nodes.members = malloc(ranks * sizeof(*nodes.members));
    nodes.position = malloc(ranks * sizeof(*nodes.position));
    if (work && nodes.of && nodes.first && nodes.members && nodes.position)
        rc = number_nodes(node, ranks, &nodes, work);
    if (rc == 0)
        sort_ranks(ranks, &nodes, work);
    else
        asp_coll_nodes_destroy(&nodes);
    free(work);
    *nodes_p = nodes;
    return rc;
}

void asp_coll_nodes_destroy(struct asp_coll_nodes *nodes)
{
    int error = errno;

    free(nodes->of);
    free(nodes->first);
    free(nodes->members);
    free(nodes->position);
    *nodes = (struct asp_coll_nodes){0};
    errno = error;
}
