/* SPDX-License-Identifier: BSD-3-Clause */
/* Layout fetch: how a task of the step learns its place in it. */
#ifndef ASPEN_RUNTIME_WORLD_LAYOUT_FETCH_H
#define ASPEN_RUNTIME_WORLD_LAYOUT_FETCH_H

#include "common/base/err.h"
#include "common/layout/layout.h"

#include <stdint.h>

/* Find this task's layout in the environment (ASPEN_LAYOUT), and hand it to a
 * PMIx server that is not Aspen's, if there is one. Called once at MPI_Init, in
 * user ranks and in aspen-ghost.
 *   out_p    owned by the caller, asp_layout_destroy()
 *   local_p  index of this task in (*out_p)->tasks
 *   err      reason, for the caller to print; may be NULL
 * Returns 0, or -1 with errno ENOENT (not a task of an Aspen step: stay
 * inert), or EINVAL, EPROTO, ENOMEM: it is one, but its place cannot be
 * known. Then it must not go on, for its ranks would be wrong. Outputs
 * untouched.
 * Prints a warning line where the real CPU mask differs from the layout.
 * Leaves no thread, child or descriptor behind, and libpmix is not loaded.
 * Threads: one.  Cost: microseconds; with another PMIx server about 4 ms (one
 * helper process), at most ASPX_PUT_TIMEOUT_MS when that server hangs. With no
 * layout in the environment: no system call, no allocation. */
int aspx_layout_fetch(struct asp_layout **out_p, uint32_t *local_p,
                      struct asp_err *err);

enum { ASPX_PUT_TIMEOUT_MS = 1500 };

#endif
