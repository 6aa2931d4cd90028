/* SPDX-License-Identifier: BSD-3-Clause */
/* The error handler of MPI_COMM_WORLD; see error_handlers.c. */
#ifndef ASPEN_RUNTIME_WORLD_ERROR_HANDLERS_H
#define ASPEN_RUNTIME_WORLD_ERROR_HANDLERS_H

#include <mpi.h>

/* Give a communicator made from MPI_COMM_WORLD its error handler, as the
 * library does.
 *   from    what the program named as the old communicator
 *   to      the new one, NULL communicator included
 *   rc      how the call that made it ended
 * Returns rc. Called by the wrappers of `inherit` rows. */
int aspx_errh_inherit(MPI_Comm from, const MPI_Comm *to, int rc);

#endif
