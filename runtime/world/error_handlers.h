/* SPDX-License-Identifier: BSD-3-Clause */
/* The error handler of MPI_COMM_WORLD; see error_handlers.c. */
#ifndef ASPEN_RUNTIME_WORLD_ERROR_HANDLERS_H
#define ASPEN_RUNTIME_WORLD_ERROR_HANDLERS_H

#include <mpi.h>

/* Set on the real world the handler that it has; all communicators of our own
 * are made before, they would inherit it. Else, from MPICH 4.2 on, a fatal
 * error of MPI_COMM_WORLD would be that of the users' communicator alone, which
 * those learn who call MPI; the others would work on. */
void aspx_errh_start(void);

/* Give a communicator made from MPI_COMM_WORLD its error handler, as the
 * library does.
 *   from    what the program named as the old communicator
 *   to      the new one, NULL communicator included
 *   rc      how the call that made it ended
 * Returns rc. Called by the wrappers of `inherit` rows. */
int aspx_errh_inherit(MPI_Comm from, const MPI_Comm *to, int rc);

#endif
