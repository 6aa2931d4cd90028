/* SPDX-License-Identifier: BSD-3-Clause */
/* What the info object of a new window says to the engine. MPI's own window
 * gets the same object and keeps what it knows. docs/design/ghosts.md lists the
 * keys. */
#ifndef ASPEN_RUNTIME_CASPER_HINTS_H
#define ASPEN_RUNTIME_CASPER_HINTS_H

#include <mpi.h>
#include <stdbool.h>

struct aspx_hints {
    bool off;         /* async_config=off: leave the window to MPI */
    bool no_locks;    /* no_locks, or epochs_used without "lock" */
    bool noncontig;   /* alloc_shared_noncontig */
};

/* Read the keys; unknown keys and values are ignored, as MPI asks. */
void aspx_hints_read(struct aspx_hints *hints, MPI_Info info);

#endif
