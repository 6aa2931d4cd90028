/* SPDX-License-Identifier: BSD-3-Clause */
/* The offload engine: one thread of each rank enters MPI for all the others,
 * but for guests (direct_call.h) and calls that read what no call changes.
 * (Paper: Vaidyanathan et al., SC15.) docs/design/offload.md tells the whole.
 */
#ifndef ASPEN_RUNTIME_OFFLOAD_OFFLOAD_H
#define ASPEN_RUNTIME_OFFLOAD_OFFLOAD_H

#include "command.h"
#include "request_pool.h"

#include "runtime/mpi/handle.h"
#include "runtime/mpi/real.h"
#include "mpi_hand.h"

#include "common/layout/layout.h"

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* What the thread calls: the library, or the workers in front of it. */
extern struct aspx_real aspx_behind;

/* What the program calls now: the entries, for calls made of other calls. */
extern struct aspx_real aspx_offload_entries;

/* In the thread's place, when MPI runs: bring up what shall lie behind it, and
 * change the library's table that is there into that one's workers. It writes
 * the record at the end, with aspx_offload_add_up(). */
typedef void aspx_offload_behind_f(struct aspx_real *table);

/* Start the thread of this rank. MPI has not been started; the caller starts it
 * through aspx_offload_MPI_Init or its kin, and then switches the entries over
 * to aspx_offload_entries. The last MPI_Finalize or MPI_Session_finalize ends
 * the thread and sends the entries to the library.
 *   layout    borrowed for the life of the process
 *   local     index of this task in it
 *   required  the thread level that the program asked for
 *   behind    NULL, or what puts ghosts behind the thread
 * Returns 0, or -1 with errno; then nothing has changed. */
int aspx_offload_start(const struct asp_layout *layout, uint32_t local,
                       int required, aspx_offload_behind_f *behind);

/* Before a call that makes a window goes to the thread: ghosts want to know who
 * made it. */
void aspx_offload_keep_site(void);

/* Before a call that makes a window: from then on other ranks may want
 * something of this one while it has nothing under way. */
extern _Atomic bool aspx_offload_had_window;
static inline void aspx_offload_window_comes(void)
{
    atomic_store_explicit(&aspx_offload_had_window, true, memory_order_relaxed);
}

/* May several threads of the program call at once? */
extern bool aspx_offload_many;

/* Does the thread run? */
bool aspx_offload_runs(void);

/* The level that MPI_Init gives: MPICH lets the environment choose. */
int aspx_offload_default_level(void);

/* Is this the offload thread? A preloaded library may use the thread's static
 * block, and saves a call. */
#define ASPX_TLS __attribute__((tls_model("initial-exec")))
extern _Thread_local bool aspx_offload_self ASPX_TLS;
static inline bool aspx_offload_is_self(void)
{
    return aspx_offload_self;
}

/* One turn of the thread's loop, for callbacks in it that wait. */
void aspx_offload_turn(void);

/* Are blocking calls carried out as their non-blocking twins? */
static inline bool aspx_offload_twins(void)
{
    return aspx_offload_many && !aspx_offload_self;
}

/* Does the program look at error codes? It has set an error handler. */
extern _Atomic bool aspx_offload_handlers_set;
static inline bool aspx_offload_wants_codes(void)
{
    return atomic_load_explicit(&aspx_offload_handlers_set,
                                memory_order_relaxed);
}

/* Can this be the rank of something? MPI_PROC_NULL and its kin can. */
static inline bool aspx_offload_is_rank(int rank)
{
    extern int aspx_offload_ranks;

    return rank >= MPI_ROOT && rank < aspx_offload_ranks;
}

/* What is in MPI_ERROR before MPI fills a status, to see whether it did. */
#define ASPX_ERROR_UNTOUCHED (-0x5eed)

/* Hand a status to the program, which may ignore it. */
void aspx_status_copy(const MPI_Status *from, MPI_Status *to);

/* The table of entries (generated). */
void aspx_offload_fill(struct aspx_real *table);

#endif
