/* SPDX-License-Identifier: BSD-3-Clause */
/* What a configuration takes at least: a bound below the simulator's time, from
 * the schedules of few ranks. So an exhaustive search need not simulate what
 * cannot win. Private to common/coll. */
#ifndef ASPEN_COMMON_COLL_MODEL_BOUND_H
#define ASPEN_COMMON_COLL_MODEL_BOUND_H

#include "common/coll/schedule/nodes.h"
#include "common/coll/model/simulate.h"

/* A time in ps that asp_coll_simulate() reaches or exceeds for this
 * configuration, which fits the problem; the same for all ranks. Looks no
 * further once it is above limit. 0 where there is no memory or a schedule
 * cannot be built.
 *
 * It follows the rules of simulate.h, each in a form that holds whatever else
 * the machine does:
 *   - a step begins when what it needs has ended, a RECV also when its message
 *     can be there; messages are followed back from rank to rank
 *   - what a rank has to do from a time on, and what a port has to pass on,
 *     comes one after the other
 *   - steps that get ready at once are served in their order
 * Cost: that of building about 3 log2(ranks) schedules, then a node's.
 * Threads: reentrant. */
int64_t asp_coll_bound(const struct asp_coll_machine *machine,
                       const struct asp_coll_config *config,
                       const struct asp_coll_problem *problem,
                       const struct asp_coll_nodes *nodes, int64_t limit);

#endif
