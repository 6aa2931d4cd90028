/* SPDX-License-Identifier: BSD-3-Clause */
/* How a thread of ours makes MPI progress. */
#ifndef ASPEN_RUNTIME_MPI_PROGRESS_REQUEST_H
#define ASPEN_RUNTIME_MPI_PROGRESS_REQUEST_H

#include <stdbool.h>

/* Any call of MPI makes progress; this one changes nothing and needs no
 * communicator: it asks for the status of a request that nobody
 * completes. Start when MPI runs, idempotent, and stop before it ends; all
 * inside MPI, by one thread. Start returns false when MPI failed; without one
 * there is no progress. */
bool aspx_progress_request_start(void);
void aspx_progress_request_stop(void);
void aspx_progress_poll(void);

#endif
