/* SPDX-License-Identifier: BSD-3-Clause */
/* The table that a request names: the same one on all ranks. */
#ifndef ASPEN_RUNTIME_COLL_COMM_TABLE_H
#define ASPEN_RUNTIME_COLL_COMM_TABLE_H

#include "common/tune/table.h"

#include <stdbool.h>

/* Rank 0 reads coll.table, says what is wrong with it, and sends it to all.
 * Collective over MPI_COMM_WORLD,
 * when MPI runs.
 *   table_p  set where this returns true: there is one, of this machine */
bool aspx_coll_take_table(struct asp_tune_table *table_p);

#endif
