/* SPDX-License-Identifier: BSD-3-Clause */
/* A node as text, at most 80 columns wide. */
#ifndef ASPEN_TOOLS_EXPLAIN_PICTURE_H
#define ASPEN_TOOLS_EXPLAIN_PICTURE_H

#include "common/layout/layout.h"
#include "common/plan/topo.h"

#include <stdio.h>

/* Draw the layout's node: its cores with who sits on them, then the helpers,
 * whom each serves and why it sits there.
 *   topo  NULL: not known, the tasks are listed instead of drawn */
void aspt_picture(FILE *to, const struct asp_topo *topo,
                  const struct asp_layout *layout);

/* Why helper number h (ghost, or service core) sits on this core: one line,
 * without a full stop. Returns buf. tools/explain/why.c. */
const char *aspt_why(const struct asp_topo *topo,
                     const struct asp_layout *layout, uint32_t task,
                     const struct asp_core *core, char *buf, size_t size);

/* Does a task of the layout sit on a CPU of this core? */
int aspt_on_core(const struct asp_core *core, const struct asp_cpuset *cpus);

#endif
