/* SPDX-License-Identifier: BSD-3-Clause */
/* How much memory the agent may take. */
#ifndef ASPEN_PMIX_AGENT_MEMORY_LIMIT_H
#define ASPEN_PMIX_AGENT_MEMORY_LIMIT_H

#include "common/base/err.h"
#include "common/layout/layout.h"

/* Lower RLIMIT_DATA and RLIMIT_AS, for good, to what the server of that step
 * needs: 64 MiB, 1 KiB per rank, and what is under way when all tasks of the
 * node connect at once. Slurm does not count the agent's memory as the job's,
 * and clients can make the server store what they like. Threads get stacks that
 * fit into it: call this before there are any.
 *   text  the layout's, which each client gets
 * Returns 0, or -1 with errno and text in err. */
int aspa_memory_limit(const struct asp_layout *layout, const char *text,
                      struct asp_err *err);

#endif
