/* SPDX-License-Identifier: BSD-3-Clause */
/* Writing the request to the agent (common/agent_wire.h). */
#ifndef ASPEN_SPANK_PLUGIN_REQUEST_H
#define ASPEN_SPANK_PLUGIN_REQUEST_H

#include "step.h"

/* Collect what the agent needs from SPANK.
 *   uid  of the job's user
 *   buf  of ASP_REQUEST_MAX bytes
 * Returns the length, or -1 with errno ENOSPC. */
int asps_request_write(spank_t spank, const struct asps_step *step, uid_t uid,
                       char *buf, size_t size);

/* Tasks of each node, as Slurm writes it into the step's environment; made up
 * for a single node. Returns 0, or -1 when there is none. */
int asps_request_tasks_per_node(spank_t spank, const struct asps_step *step,
                                char *buf, size_t size);

#endif
