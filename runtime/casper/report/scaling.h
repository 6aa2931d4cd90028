/* SPDX-License-Identifier: BSD-3-Clause */
/* How many ghosts of each node were active over the time, in the record; only
 * with ghost.active=auto. */
#ifndef ASPEN_RUNTIME_CASPER_REPORT_SCALING_H
#define ASPEN_RUNTIME_CASPER_REPORT_SCALING_H

#include "runtime/world/world.h"

#include <stdio.h>

struct aspx_scaling_report; /* opaque */

/* Those of all nodes, in user rank 0; elsewhere, without memory, and where all
 * ghosts are always active, NULL. Collective over users, while the ghosts
 * serve. */
struct aspx_scaling_report *aspx_scaling_gather(const struct aspx_world *world);

/* Takes NULL. */
void aspx_scaling_free(struct aspx_scaling_report *report);

/* The members "ghost_crew" and "ghost_crew_more", with a comma before them.
 * Takes NULL. */
void aspx_scaling_json(FILE *to, const struct aspx_scaling_report *report);

#endif
