/* SPDX-License-Identifier: BSD-3-Clause */
/* From request to plan: site policy and request -> knobs, knobs, topology and
 * task counts -> layout. */
#ifndef ASPEN_PMIX_AGENT_RESOLVE_H
#define ASPEN_PMIX_AGENT_RESOLVE_H

#include "request.h"

#include "common/base/err.h"
#include "common/node/node_plan.h"

/* Make the plan for this node.
 *   plan   zeroed by the caller; asp_node_plan_clear() also after failure
 * Returns 0, or -1 with text in err: the step runs without Aspen, or is
 * refused when plan->require is set.  Threads: one. */
int aspa_resolve(const struct aspa_request *request, struct asp_node_plan *plan,
                 struct asp_err *err);

#endif
