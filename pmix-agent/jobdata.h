/* SPDX-License-Identifier: BSD-3-Clause */
/* A layout as PMIx job data: what PMIx_server_register_nspace() takes. */
#ifndef ASPEN_PMIX_AGENT_JOBDATA_H
#define ASPEN_PMIX_AGENT_JOBDATA_H

#include "common/base/err.h"
#include "common/layout/layout.h"

#include <pmix_common.h>
#include <stddef.h>

/* Steps of more ranks are published with less detail: what every client must
 * receive may not grow with the step. docs/design/pmix.md, "Large steps". */
enum { ASPA_DETAILED_RANKS_MAX = 1024 };

/* Write the name of a node as the maps have it, never empty. */
void aspa_jobdata_node(const struct asp_layout *layout, uint32_t n, char *buf,
                       size_t size);

/* Make the job, node and process data of the layout's step.
 *   text     the layout's text form
 *   info_p   owned by the caller, PMIX_INFO_FREE(); untouched on failure
 * Returns 0, or -1 with errno ENOMEM or EIO; text in err.
 * Threads: after PMIx_server_init(), from one thread.
 * Cost: O(ranks of the step) text for the maps, O(local tasks) entries. */
int aspa_jobdata_make(const struct asp_layout *layout, const char *text,
                      const char *nspace, pmix_info_t **info_p, size_t *ninfo_p,
                      struct asp_err *err);

#endif
