/* SPDX-License-Identifier: BSD-3-Clause */
/* The process sets of a step: its users and its ghosts, for PMIx. Members are
 * made when asked for: 260 bytes each. */
#ifndef ASPEN_PMIX_AGENT_PSETS_H
#define ASPEN_PMIX_AGENT_PSETS_H

#include "common/base/err.h"
#include "common/layout/layout.h"

#include <pmix_server.h>

/* Names that users and tools rely on; docs/design/pmix.md. */
#define ASPA_PSET_USERS  "aspen://users"
#define ASPA_PSET_GHOSTS "aspen://ghosts"

/* A client asks for the number of sets, their names and the members of both:
 * more keys in one request have no use, but a copy of a set each. */
enum { ASPA_QUERY_KEYS_MAX = 4 };

/* Announce the sets to the clients, unless the step is large.
 * Returns 0, or -1 with errno ENOMEM or EIO. */
int aspa_psets_define(const struct asp_layout *layout, const char *nspace,
                      struct asp_err *err);

/* Answer a query of a client, as the server module's entry `query`: the library
 * stores sets but answers no question about them.
 *   done  called before this returns, if it returns PMIX_SUCCESS
 * Threads: reentrant. */
pmix_status_t aspa_psets_answer(const struct asp_layout *layout,
                                const char *nspace, const pmix_query_t *queries,
                                size_t nqueries, pmix_info_cbfunc_t done,
                                void *arg);

#endif
