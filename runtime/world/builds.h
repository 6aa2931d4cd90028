/* SPDX-License-Identifier: BSD-3-Clause */
/* Do all processes of a step have the same build of MPI? */
#ifndef ASPEN_RUNTIME_WORLD_BUILDS_H
#define ASPEN_RUNTIME_WORLD_BUILDS_H

#include "world.h"

/* Compare, and have rank 0 say in one line where two differ. Collective over
 * the real world, once the ranks have joined. */
void aspx_builds_compare(const struct aspx_world *world);

#endif
