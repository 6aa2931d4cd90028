/* SPDX-License-Identifier: BSD-3-Clause */
/* How much memory the agent may take. */
#ifndef ASPEN_PMIX_AGENT_MEMORY_LIMIT_H
#define ASPEN_PMIX_AGENT_MEMORY_LIMIT_H

#include "common/err.h"

#include <stdint.h>

/* Lower RLIMIT_DATA and RLIMIT_AS, for good, to what the server of a step of
 * that size needs: 64 MiB and 1 KiB per rank. Slurm does not count the agent's
 * memory as the job's, and clients can make the server store what they like.
 * Returns 0, or -1 with errno and text in err. */
int aspa_memory_limit(uint32_t ranks, struct asp_err *err);

#endif
