/* SPDX-License-Identifier: BSD-3-Clause */
/* Progress threads beside ghosts (adapt=auto): each rank starts and stops its
 * thread as adaptation says. docs/design/adaptation.md, "Messages".
 *
 * Entries are switched by a thread of the program, when its outermost call of
 * MPI is over. Below MPI_THREAD_MULTIPLE nobody is inside MPI then. With it
 * others may be, and the helper may be there beside them: then the gate is a
 * hint only. */
#ifndef ASPEN_RUNTIME_PROGRESS_ON_DEMAND_H
#define ASPEN_RUNTIME_PROGRESS_ON_DEMAND_H

#include "watch.h"

#include "common/layout/layout.h"

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Begin to listen, in MPI_Init and in place of aspx_entry_activate().
 *   layout  borrowed; the thread stays on the CPUs of this node's ghosts
 *   wanted  enum aspx_help, which others write at any time; until stop. NULL: all
 *           this is not wanted, and the entries lead to the wrappers for good
 *   posted  where others see what there is to work for; until stop */
void aspx_on_demand_start(const struct asp_layout *layout,
                          const _Atomic int32_t *wanted,
                          struct aspx_message_counts *posted);

/* The end, inside the program's MPI_Finalize, while MPI still works.
 * Idempotent; fine without start. */
void aspx_on_demand_stop(void);

/* A call of the program that posted something large has left the gate. */
void aspx_on_demand_posted(void);

/* From now on there is no progress thread in this rank: the program makes a
 * function that MPI may call during progress. It was written for the program's
 * threads, and may hold their locks or look for what is theirs. (A user of mode
 * thread has asked for that thread; here nobody has.) */
void aspx_on_demand_disable(void);

/* A persistent request was made, large or not; rc is what MPI said. */
void aspx_on_demand_made(int rc, const MPI_Request *request, bool large);

/* Generated: calls after which there is never a thread; what is to be known of
 * calls that do not pass the gate, and those that pass it in any case; and the
 * latter alone, where all do. What they go on to. */
struct aspx_real;
void aspx_on_demand_fill_bars(struct aspx_real *table);
void aspx_on_demand_fill_ungated(struct aspx_real *table);
void aspx_on_demand_fill_gated(struct aspx_real *table);
extern struct aspx_real aspx_on_demand_behind;

#endif
