/* SPDX-License-Identifier: BSD-3-Clause */
/* What entries become: generated `world` workers and handlers in C. */
#ifndef ASPEN_RUNTIME_MPI_WRAPPERS_H
#define ASPEN_RUNTIME_MPI_WRAPPERS_H

#include "mpi_hand.h"
#include "real.h"
#include "runtime/world/world.h"
#include "runtime/world/error_handlers.h"

/* The active table. */
void aspx_workers_fill(struct aspx_real *table);

/* The table before MPI_Init: the library, and the handlers that start us. */
void aspx_workers_fill_start(struct aspx_real *table);

/* The table after the end of a program with a hidden MPI_Init. */
void aspx_workers_fill_end(struct aspx_real *table);

#endif
