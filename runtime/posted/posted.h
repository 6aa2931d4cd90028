/* SPDX-License-Identifier: BSD-3-Clause */
/* Stands in front of the calls that complete, start, free or cancel requests
 * (complete.h), for requests of our own (request.h). */
#ifndef ASPEN_RUNTIME_POSTED_POSTED_H
#define ASPEN_RUNTIME_POSTED_POSTED_H

#include "runtime/mpi/entry.h"

#include "mpi_behind.h" /* aspx_posted_behind: what lies behind us */

/* Somebody will make requests of its own: stand in front. Before the entries
 * are switched. */
void aspx_posted_want(void);

/* Before MPI ends. */
void aspx_posted_leave(void);

/* Are there more processes than CPUs, so that a wait is to sleep early? */
extern bool aspx_posted_shares_cpus;

/* Through which MPI is polled: past whatever carries messages itself. */
extern const struct aspx_real *aspx_posted_polls;

extern const struct aspx_interceptor aspx_posted_interceptor;

#endif
