/* SPDX-License-Identifier: BSD-3-Clause */
/* From MPI's windows to what is known of them: tables by handle, read without a
 * lock. */
#ifndef ASPEN_RUNTIME_CASPER_WINDOW_TABLE_H
#define ASPEN_RUNTIME_CASPER_WINDOW_TABLE_H

#include <mpi.h>
#include <pthread.h>

struct aspx_slots;

struct aspx_table {
    struct aspx_slots *_Atomic current;
    pthread_mutex_t mutex; /* changes */
};

#define ASPX_TABLE_INITIALIZER                                                 \
    {                                                                          \
        NULL, PTHREAD_MUTEX_INITIALIZER                                        \
    }

/* What was entered for a handle; NULL: nothing.
 * Threads: any.  Cost: a hash probe. */
void *aspx_table_find(const struct aspx_table *table, MPI_Win handle);

/* Enter, in place of what a dead window of the same handle had. Returns 0, or
 * -1 (ENOMEM). */
int aspx_table_insert(struct aspx_table *table, MPI_Win handle, void *known);

/* Does nothing when the handle was given to another window meanwhile. */
void aspx_table_remove(struct aspx_table *table, MPI_Win handle,
                       const void *known);

#endif
