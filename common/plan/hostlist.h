/* SPDX-License-Identifier: BSD-3-Clause */
/* Slurm's short form of node lists: "n[1-3,05],login". */
#ifndef ASPEN_COMMON_PLAN_HOSTLIST_H
#define ASPEN_COMMON_PLAN_HOSTLIST_H

#include "common/base/err.h"
#include "common/layout/layout.h"

#include <stdint.h>

/* Write the names of all nodes, in the list's order, into nodes[].name.
 *   nodes, nnodes  the step's nodes
 * Returns 0, or -1 with errno EINVAL (form of the list, another number of
 * names than nnodes, a name too long); names are then partly set.
 * Threads: reentrant.  Cost: O(names). */
int asp_hostlist_name(const char *list, struct asp_layout_node *nodes,
                      uint32_t nnodes, struct asp_err *err);

#endif
