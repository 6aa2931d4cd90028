/* SPDX-License-Identifier: BSD-3-Clause */
/* What the info object of a new window says to the engine. MPI's own window
 * gets the same object and keeps what it knows. docs/design/rma.md lists the
 * keys. */
#ifndef ASPEN_RUNTIME_CASPER_WINDOW_HINTS_H
#define ASPEN_RUNTIME_CASPER_WINDOW_HINTS_H

#include "runtime/adapt/adapt.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

struct aspx_hints {
    enum aspx_async async; /* async_config */
    bool symmetric;        /* all processes are here and have completed all they
                              issued; for MPI_Win_set_info */
    bool no_locks;         /* no_locks, or epochs_used without "lock" */
    bool noncontig;        /* alloc_shared_noncontig */
    uint64_t align;        /* mpi_minimum_memory_alignment; 1: not said */
};

/* Read the keys, info may be MPI_INFO_NULL; unknown keys and values are
 * ignored, as MPI asks. */
void aspx_hints_read(struct aspx_hints *hints, MPI_Info info);

/* Of these, the alignment only: for MPI_Alloc_mem. */
uint64_t aspx_hints_align(MPI_Info info);

/* Is the word in the list, whatever the case of its letters? Items are
 * separated by commas and blanks. */
bool aspx_hints_list_has(const char *list, const char *word);

#endif
