/* SPDX-License-Identifier: BSD-3-Clause */
/* Schedules of a communicator, kept for calls that are alike. */
#ifndef ASPEN_RUNTIME_COLL_ALGORITHMS_KEPT_H
#define ASPEN_RUNTIME_COLL_ALGORITHMS_KEPT_H

#include "execute_call.h"

/* Carry out the schedule of a configuration for a problem among `ranks` (NULL:
 * all), as number `rank` of them. Returns MPI_SUCCESS or an error code. */
int aspx_coll_schedule(const struct aspx_coll_job *job,
                       const struct asp_coll_config *config,
                       const struct asp_coll_problem *problem, uint32_t rank,
                       const int *ranks, const void *in, void *out);

#endif
