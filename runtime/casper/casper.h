/* SPDX-License-Identifier: BSD-3-Clause */
/* What the rest of the runtime sees of the ghost engine, besides the
 * aspx_wrap_MPI_* functions of its rows in mpi_calls.tab. */
#ifndef ASPEN_RUNTIME_CASPER_CASPER_H
#define ASPEN_RUNTIME_CASPER_CASPER_H

#include "runtime/world/mode.h"
#include "runtime/world/world.h"

extern const struct aspx_mode aspx_casper_mode;

/* Start the engine in a user rank. Collective over world->all; the ghosts run
 * the same steps in aspen-ghost.
 *   world   borrowed until aspx_casper_stop()
 * When no arena can be had, windows simply stay with MPI; the record says so.
 * Returns 0, or -1 when MPI failed (the caller ends the job). */
int aspx_casper_start(const struct aspx_world *world);

/* Say goodbye to the ghosts. Collective over world->all, before
 * aspx_world_stop(); every window is freed by then. Takes being stopped or
 * never started. */
void aspx_casper_stop(void);

#endif
