/* SPDX-License-Identifier: BSD-3-Clause */
/* Stands in front of the collective calls that can be tuned. */
#ifndef ASPEN_RUNTIME_COLL_FRONT_H
#define ASPEN_RUNTIME_COLL_FRONT_H

#include "common/layout/layout.h"

/* Stand in front of whatever entries are used from now on, if the layout says
 * coll=table or coll=tune. When MPI runs, before the entries are switched, in
 * all ranks of the step. */
void aspx_coll_start(const struct asp_layout *layout);

/* The entries have been switched: agree with the other ranks that all of them
 * do this, and on the table. Collective over the users. */
void aspx_coll_join(const struct asp_layout *layout);

/* Let go of what MPI must free, before it ends. Collective. */
void aspx_coll_stop(void);

#endif
