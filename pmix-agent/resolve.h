/* SPDX-License-Identifier: BSD-3-Clause */
/* From request to plan: site policy and request -> knobs, knobs, topology and
 * task counts -> layout. */
#ifndef ASPEN_PMIX_AGENT_RESOLVE_H
#define ASPEN_PMIX_AGENT_RESOLVE_H

#include "request.h"

#include "common/base/err.h"
#include "common/layout/layout.h"

#include <stdbool.h>

struct aspa_plan {
    struct asp_layout *layout; /* owned; NULL when there is none */
    char *text;                /* owned; the layout's text form */
    bool require;              /* set as soon as known, also on failure */
    bool pmix;                 /* does the policy want a PMIx server? */
    char note[400];            /* what the user should hear, or "" */
};

/* Make the plan for this node.
 *   plan   zeroed by the caller; aspa_plan_clear() also after failure
 * Returns 0, or -1 with text in err: the step runs without Aspen, or is
 * refused when plan->require is set.  Threads: one. */
int aspa_resolve(const struct aspa_request *request, struct aspa_plan *plan,
                 struct asp_err *err);

void aspa_plan_clear(struct aspa_plan *plan);

#endif
