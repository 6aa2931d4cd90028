/* SPDX-License-Identifier: BSD-3-Clause */
/* The PMIx server of one node of one step: publishes the layout to the tasks
 * and to any tool that asks. One per process, because PMIx has one. */
#ifndef ASPEN_PMIX_AGENT_SERVE_H
#define ASPEN_PMIX_AGENT_SERVE_H

#include "answer.h"

#include "common/base/err.h"
#include "common/layout/layout.h"

#include <sys/types.h>

/* Names that users and tools rely on; docs/design/pmix.md. */
#define ASPA_KEY_LAYOUT  "aspen.layout"
#define ASPA_KEY_ROLE    "aspen.role"
#define ASPA_KEY_VERSION "aspen.version"

/* Start the server and register the namespace and this node's tasks.
 *   layout   borrowed until aspa_serve_stop(); not degraded
 *   text     its text form, published as aspen.layout
 *   tmpdir   private directory of this server; may be removed afterwards
 * Returns 0, or -1 with errno EIO and PMIx's reason in err; the process is
 * then without a server and aspa_serve_stop() is still allowed.
 * Threads: call once, from the main thread; PMIx starts two of its own. */
int aspa_serve_start(const struct asp_layout *layout, const char *text,
                     const char *tmpdir, struct asp_err *err);

/* Before the names of PMIx's own variables: an MPI that found those would take
 * this server, which does not start jobs, for the one that started it. `aspen
 * pmix` takes the prefix away. */
#define ASPA_ENV_PREFIX "ASPEN_"

/* Add to env what a PMIx client in this local task needs: ASPEN_PMIX_*.
 * Returns 0, or -1 with errno EIO or those of aspa_env_add(). */
int aspa_serve_env(uint32_t local_p, struct aspa_env *env, struct asp_err *err);

/* Stop the server. May take as long as PMIx likes: guard it with a timer. */
void aspa_serve_stop(void);

#endif
