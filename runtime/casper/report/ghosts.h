/* SPDX-License-Identifier: BSD-3-Clause */
/* What the ghosts of a job did with their time, in its record. */
#ifndef ASPEN_RUNTIME_CASPER_REPORT_GHOSTS_H
#define ASPEN_RUNTIME_CASPER_REPORT_GHOSTS_H

#include "runtime/world/world.h"

#include <stdio.h>

struct aspx_ghost_times; /* opaque */

/* Those of all ghosts, in user rank 0; elsewhere, and without memory, NULL. The
 * ghosts do nothing for it: the first user of each node reads their signs of
 * life in the arena. Collective over users, while the ghosts serve. */
struct aspx_ghost_times *aspx_ghost_times_gather(
    const struct aspx_world *world);

/* Takes NULL. */
void aspx_ghost_times_free(struct aspx_ghost_times *times);

/* One line. Takes NULL. */
void aspx_ghost_times_print(FILE *to, const struct aspx_ghost_times *times);

/* The member "ghost_busy", with a comma before it. Takes NULL. */
void aspx_ghost_times_json(FILE *to, const struct aspx_ghost_times *times);

#endif
