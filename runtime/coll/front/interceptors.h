/* SPDX-License-Identifier: BSD-3-Clause */
/* Stands in front of the collective calls that can be tuned. */
#ifndef ASPEN_RUNTIME_COLL_FRONT_INTERCEPTORS_H
#define ASPEN_RUNTIME_COLL_FRONT_INTERCEPTORS_H

#include "runtime/mpi/entry.h"

/* It starts if the layout says coll=table or coll=tune. Joining, the ranks
 * agree that all of them do this, and on the table. */
extern const struct aspx_interceptor aspx_coll_interceptor;

/* Let go of what MPI must free, before it ends. Collective. */
void aspx_coll_stop(void);

#endif
