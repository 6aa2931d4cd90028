/* SPDX-License-Identifier: BSD-3-Clause */
/* The tuning cache: what communicators have found out, for the next ones: of
 * the same processes, else of the same shape (common/tune/key.h). It is taken
 * only if all ranks of the new communicator have cached the very same, since
 * they may have been in different ones; the others search for themselves.
 *
 * Threads: any. */
#ifndef ASPEN_RUNTIME_COLL_COMM_TUNING_CACHE_H
#define ASPEN_RUNTIME_COLL_COMM_TUNING_CACHE_H

#include "state.h"

/* Keep what its searches have come to. After an agreement, and before it is let
 * go: what is kept was then agreed by all its ranks. */
void aspx_coll_tuning_cache_keep(const struct aspx_coll_comm *comm);

/* Let its decisions begin with what was cached. Collective on comm->own; when
 * its shape is known, before its first call. */
void aspx_coll_tuning_cache_use(struct aspx_coll_comm *comm);

#endif
