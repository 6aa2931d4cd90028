/* SPDX-License-Identifier: BSD-3-Clause */
/* From MPI's handles (of windows, or of datatypes) to what is known of them:
 * tables that are read without a lock. */
#ifndef ASPEN_RUNTIME_BASE_TABLE_H
#define ASPEN_RUNTIME_BASE_TABLE_H

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
void *aspx_table_find(const struct aspx_table *table, int handle);

/* Enter, in place of what a dead object of the same handle had. Returns 0, or
 * -1 (ENOMEM), but not for a handle that was entered once. */
int aspx_table_insert(struct aspx_table *table, int handle, void *known);

/* Does nothing when the handle was given to another object meanwhile. */
void aspx_table_remove(struct aspx_table *table, int handle, const void *known);

#endif
