/* SPDX-License-Identifier: BSD-3-Clause */
/* Mode thread: a sleeping progress thread in each rank, on the node's service
 * CPUs. docs/design/thread.md tells the whole. (Paper: Pritchard et al.,
 * CUG 2012.) */
#ifndef ASPEN_RUNTIME_PROGRESS_PROGRESS_H
#define ASPEN_RUNTIME_PROGRESS_PROGRESS_H

#include "gate.h"
#include "watch.h"

#include "runtime/mpi/real.h"
#include "runtime/world/mode.h"
#include "mpi_wrap.h"

#include "common/layout/layout.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

extern const struct aspx_mode aspx_progress_mode;

/* What the program calls in this mode, and what lies behind that: the library,
 * or beside ghosts the wrappers (on_demand.h). */
extern struct aspx_real aspx_progress_entries, aspx_progress_behind;

/* Is a thread like ours asked of MPICH itself? Then ours is not started. */
bool aspx_progress_is_mpichs(void);

/* Start the helper of this rank, after MPI_Init. The caller then switches the
 * entries over to aspx_progress_entries; MPI_Finalize undoes both.
 *   layout  borrowed for the life of the process
 * Returns 0, or -1 with errno; then nothing has changed. */
int aspx_progress_start(const struct asp_layout *layout);

/* What is large is said in the layout. */
void aspx_progress_read_limits(const struct asp_layout *layout);

/* Is a message so large that it may need both sides in MPI? */
bool aspx_progress_is_large(MPI_Count count, MPI_Datatype type);

/* The ends of generated calls, which have entered the gate: a request was
 * posted, or a persistent one was made; rc is what MPI said. */
int aspx_progress_posted(int rc, const MPI_Request *request, bool large);
int aspx_progress_posted_op(int rc, const MPI_Request *request, MPI_Op op);
int aspx_progress_made_op(int rc, const MPI_Request *request, MPI_Op op);
int aspx_progress_made(int rc, const MPI_Request *request, bool large);

/* The table of entries (generated). */
void aspx_progress_fill(struct aspx_real *table);

#endif
