/* SPDX-License-Identifier: BSD-3-Clause */
/* adapt=auto: a leader measures the workload of its node. What users did is
 * counted in the arena (adapt/node_status_page.h); how long they stay outside
 * MPI is sampled. */
#ifndef ASPEN_RUNTIME_ADAPT_NODE_NODE_STATS_H
#define ASPEN_RUNTIME_ADAPT_NODE_NODE_STATS_H

#include "runtime/adapt/decide/workload.h"
#include "runtime/adapt/node_status_page.h"

#include "runtime/casper/arena/engine.h"

struct aspx_node_stats; /* opaque */

/* Both are borrowed. Returns NULL without memory. */
struct aspx_node_stats *aspx_node_stats_create(
    const struct aspx_engine *engine, struct aspx_node_status_page *page);

/* Take a sample; often, as stays outside MPI are seen between two samples.
 *   ticks    of the clock, now
 *   wishing  users that the predictor wants served by ghosts now */
void aspx_node_stats_sample(struct aspx_node_stats *stats, uint64_t ticks,
                            uint32_t wishing);

/* The workload since the last call, which begins anew. */
void aspx_node_stats_take(struct aspx_node_stats *stats, uint64_t ticks,
                          struct aspx_workload *workload_p);

/* Takes NULL. */
void aspx_node_stats_destroy(struct aspx_node_stats *stats);

#endif
