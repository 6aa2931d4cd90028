/* SPDX-License-Identifier: BSD-3-Clause */
/* The exported MPI_X and PMPI_X, and the inner entries, to which libmpich's own
 * symbols lead (redirect.h). Each is one indirect jump through a table:
 *
 *   at load          the first_ stubs: they resolve and jump on, or say that
 *                    this MPICH lacks the function
 *   resolved         the library itself, but for MPI_Init and its kin
 *   inert for good   the library itself
 *   another MPI      that library itself, whatever its functions take
 *   mode ghost       the wrappers (mpi_wrappers.c)
 *   mode offload     the way to the offload thread (mpi_offload.c)
 *   mode thread      the library, inside the gate (mpi_progress.c)
 *   interceptors     layers in front of one of these: that which measures time
 *                    (mpi_profile.c), and others (mpi_interceptors.c)
 *
 * Which function has which of them is in mpi_calls.tab alone: all that fills
 * tables is generated from it.
 *
 * A tool behind us keeps its place: our MPI_X jumps to the tool's MPI_X, and
 * our PMPI_X to its PMPI_X if it has one. The work happens when the tool calls
 * PMPI_X, or what it found behind itself, which is the inner entry. */
#ifndef ASPEN_RUNTIME_MPI_ENTRY_H
#define ASPEN_RUNTIME_MPI_ENTRY_H

#include "real.h"

#include "common/layout/layout.h"

#include <stdarg.h> /* of the generated MPI_Pcontrol */

#define ASPX_EXPORT __attribute__((visibility("default")))

extern struct aspx_real aspx_entry_mpi, aspx_entry_pmpi, aspx_entry_inner;

/* The inner entries themselves. */
extern const struct aspx_real aspx_inner;

/* Called by the first_ stub of this function: fill the tables. Ends the process
 * when there is an MPICH, but an older one that lacks the function: it keeps
 * the stub. Threads: any, concurrently. */
void aspx_entry_resolve(size_t call);

/* Called once, in the first call of MPI, where there is a layout but the
 * process has another MPI than MPICH: every call goes through to it. Defined by
 * world/bypass.c, which knows what that means for the job. */
struct aspx_mpi_library;
void aspx_entry_other_mpi(const struct aspx_mpi_library *other);

/* Likewise, where it has an MPICH and another MPI beside it: every call goes to
 * the MPICH. */
void aspx_entry_second_mpi(const struct aspx_mpi_library *first,
                           const struct aspx_mpi_library *second);

/* Send every call to the library from now on. */
void aspx_entry_inert(void);

/* The same at the end of a program with a hidden MPI_Init, but for the calls
 * that would tell of it. */
void aspx_entry_end(void);

/* Send every call to its wrapper from now on. Call while no other thread of the
 * program can be inside MPI: in MPI_Init. */
void aspx_entry_activate(void);

/* What stands in front of some functions in all modes, as it registers in
 * interceptors[] of start.c. NULL stands for nothing to do, and for no. */
struct aspx_interceptor {
    /* Before MPI_Init. True: it stands before the library itself, behind the
     * mode, and in Aspen's own calls. */
    bool (*prepare)(const struct asp_layout *layout);

    /* MPI runs and is mended; before the entries are switched, in all ranks of
     * the step. True: it stands in front of the mode. */
    bool (*start)(const struct asp_layout *layout);

    /* Of one that has started: the entries have been switched. Collective over
     * the users. */
    void (*join)(const struct asp_layout *layout);

    /* Of one that has started: MPI_Finalize has run the program's callbacks;
     * MPI and the mode still work. */
    void (*leave)(void);

    /* Of one that has started: does it stand no longer, when entries are
     * switched again? */
    bool (*is_over)(void);

    /* Generated (mpi_behind.h): put its functions into a table; and the table
     * that they jump on through. */
    void (*fill)(struct aspx_real *table);
    struct aspx_real *behind;
};

enum { ASPX_INTERCEPTORS_MAX = 8 }; /* in all; there are six */

/* Have it stand before the library: in aspx_real. Before MPI_Init, once. */
void aspx_entry_put_before_library(const struct aspx_interceptor *interceptor);

/* Have it stand before what aspx_entry_use() is given from now on, and before
 * those that came earlier. Idempotent. */
void aspx_entry_put_before_mode(const struct aspx_interceptor *interceptor);

/* Send every call where this table says, from now on. As above. */
void aspx_entry_use(const struct aspx_real *table);

/* Generated (mpi_wrappers.c): the active table; the one before MPI_Init, which
 * is the library and the handlers that start us; the one after the end of a
 * program with a hidden MPI_Init; the one where no mode came up; and the active
 * one behind an offload thread. */
void aspx_wrappers_fill(struct aspx_real *table);
void aspx_wrappers_fill_start(struct aspx_real *table);
void aspx_wrappers_fill_end(struct aspx_real *table);
void aspx_wrappers_fill_plain(struct aspx_real *table);
void aspx_wrappers_fill_behind(struct aspx_real *table);

#endif
