/* SPDX-License-Identifier: BSD-3-Clause */
/* The offload engine: one thread of each rank enters MPI for all the others,
 * but for direct_calls (direct_call.h) and calls that read what no call
 * changes. (Paper: Vaidyanathan et al., SC15.) docs/design/offload.md tells the
 * whole.
 */
#ifndef ASPEN_RUNTIME_OFFLOAD_OFFLOAD_H
#define ASPEN_RUNTIME_OFFLOAD_OFFLOAD_H

#include "state.h"

#include "runtime/world/mode.h"

#include "common/layout/layout.h"

#include <stdbool.h>
#include <stdint.h>

/* In the thread's place, when MPI runs: mend it, and bring up the mode that is
 * to lie behind the thread, if there is one, by changing the library's table
 * that is there into that mode's wrappers. */
typedef void aspx_offload_behind_f(struct aspx_real *table);

extern const struct aspx_mode aspx_offload_mode;

/* Start the thread of this rank. MPI has not been started; the caller starts it
 * through aspx_offload_MPI_Init or its kin, and then switches the entries over
 * to aspx_offload_entries. The last MPI_Finalize or MPI_Session_finalize ends
 * the thread and sends the entries to the library.
 *   layout    borrowed for the life of the process
 *   local     index of this task in it
 *   required  the thread level that the program asked for
 *   runs      called when MPI runs
 *   mode_behind  does it put a mode behind the thread? That one writes the
 *                record at the end
 * Returns 0, or -1 with errno; then nothing has changed. */
int aspx_offload_start(const struct asp_layout *layout, uint32_t local,
                       int required, aspx_offload_behind_f *runs,
                       bool mode_behind);

/* Before a call that makes a window goes to the thread: ghosts want to know its
 * caller. */
void aspx_offload_keep_call_site(void);

/* The level that MPI_Init gives: MPICH lets the environment choose. */
int aspx_offload_default_level(void);

/* The table of entries (generated). */
void aspx_offload_fill(struct aspx_real *table);

#endif
