/* SPDX-License-Identifier: BSD-3-Clause */
/* Mode thread in programs of the session model. */
#ifndef ASPEN_RUNTIME_PROGRESS_SESSIONS_H
#define ASPEN_RUNTIME_PROGRESS_SESSIONS_H

#include "runtime/mpi/real.h"

#include <stdbool.h>

/* Before the first session, with the MPI_Init done that the program did not ask
 * for: put into this table of entries the calls that keep it hidden, and end it. */
void aspx_progress_fill_sessions(struct aspx_real *table);

/* Was that done? Then the first session, too, is opened by this. */
bool aspx_progress_hides_init(void);
int aspx_progress_MPI_Session_init(MPI_Info info, MPI_Errhandler errhandler,
                                   MPI_Session *session);

#endif
