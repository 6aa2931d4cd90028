/* SPDX-License-Identifier: BSD-3-Clause */
/* From plan to answer, with the PMIx server in between. */
#ifndef ASPEN_PMIX_AGENT_PUBLISH_H
#define ASPEN_PMIX_AGENT_PUBLISH_H

#include "answer.h"
#include "resolve.h"

#include "common/base/err.h"

#include <stdbool.h>

/* Start the server if tmp_base is not NULL, and fill the answer. A server
 * that does not start is a remark in the answer, not a failure.
 * Returns 0, or -1 with text in err (no memory, environment too large). */
int aspa_publish(const struct asp_node_plan *plan, const char *tmp_base,
                 struct aspa_answer *answer, struct asp_err *err);

/* The answer to a request without a plan.
 * Returns 0, or -1 with errno ENOMEM. */
int aspa_publish_failure(struct aspa_answer *answer, bool require,
                         const struct asp_err *why, struct asp_err *err);

/* For the handler of a fatal signal: remove what aspa_publish() has on disk
 * at this moment. Async-signal-safe. */
void aspa_publish_abandon(void);

#endif
