/* SPDX-License-Identifier: BSD-3-Clause */
/* adapt=auto: a leader measures the demand of its node. What users have done
 * lies in the arena; how long they stay outside MPI shows by looking often. */
#ifndef ASPEN_RUNTIME_ADAPT_NODE_NODE_STATS_H
#define ASPEN_RUNTIME_ADAPT_NODE_NODE_STATS_H

#include "runtime/adapt/decide/workload.h"
#include "runtime/adapt/node_status_page.h"

#include "runtime/casper/arena/engine.h"

struct aspx_node_stats; /* opaque */

/* Both are borrowed. Returns NULL without memory. */
struct aspx_node_stats *aspx_node_stats_create(
    const struct aspx_engine *engine, struct aspx_node_status_page *page);

/* A look, often.
 *   ticks    the clock's
 *   wishing  users that the predictor wants served by ghosts now */
void aspx_node_stats_sample(struct aspx_node_stats *stats, uint64_t ticks,
                            uint32_t wishing);

/* What came together since the last call; begins anew. */
void aspx_node_stats_take(struct aspx_node_stats *stats, uint64_t ticks,
                          struct aspx_workload *workload_p);

/* Takes NULL. */
void aspx_node_stats_destroy(struct aspx_node_stats *stats);

#endif
