/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines of a trace (base/log.h) about the collectives of a communicator: which
 * algorithm each kind of call and size is tried and carried out with, each
 * once. Its rank 0 tells, as all ranks decide alike. Threads: as the
 * communicator's. */
#ifndef ASPEN_RUNTIME_COLL_COMM_TRACE_H
#define ASPEN_RUNTIME_COLL_COMM_TRACE_H

#include "state.h"

/* The communicator's state was made: fills comm->told where lines are wanted.
 * The others are called where it is not NULL. */
void aspx_coll_trace_start(struct aspx_coll_comm *comm);

/* A call that is measured begins and ends: one that is made to try the
 * algorithm, where that comes from a search.
 *   config  NULL: MPI's own choice */
void aspx_coll_trace_begin(struct aspx_coll_comm *comm,
                           const struct asp_tune_args *args,
                           const struct asp_decision *decision,
                           const struct aspx_coll_config *config);
void aspx_coll_trace_end(struct aspx_coll_comm *comm);

/* A call is carried out with what was chosen for it. */
void aspx_coll_trace_chosen(struct aspx_coll_comm *comm,
                            const struct asp_tune_args *args,
                            const struct aspx_coll_config *config);

/* A non-blocking call.
 *   args  NULL: not read
 *   by    and why; static */
void aspx_coll_trace_posted(struct aspx_coll_comm *comm, enum asp_coll_op op,
                            const struct asp_tune_args *args, const char *by);

#endif
